def C(a):
 b=15<<16
 while a>>19:a>>=4;b+=4<<16
 while a>>16:a>>=1;b+=1<<16
 while not a>>15:a<<=1;b-=1<<16
 a-=32768;c=14376-(a*(7833-(a*2691>>15))>>15);return b+a+a+((a*(32768-a)>>15)*c>>14)
def G(m,q,k,e,l):
 clusters,dim,r,i,o,s,m0,b0=m.D;d=m.F;c=k*(3*dim+3)
 while True:
  f=r+i*e;g=p=0
  for j in range(dim):c+=3;a=q[j]-m0[j];n=d[c+1]=d[c+1]+l*(a*(a-1)>>1);a=d[c]=d[c]+l*a;b=i*a//f;h=i*a-b*f;p|=n>250000000;a+=b0[j]+n-b*a+n+b0[j]-(b*h+h*h//f)//i;a+=a//f*i+a%f*i//f;d[c+2]=a;g+=C(a)
  if k==clusters or(f<16000 and(not p)):break
  for j in range(dim):b=i*d[c]//f;a=d[c]+e%2*b;d[c+1]=d[c+1]+(e%2*b*(b-1)>>1)-a%2*b>>1;d[c]=a>>1;c-=3
  e=e+1>>1;l=0
 c-=3*dim;d[c+1]=g
 if k<clusters:m.counts[k]=e
 a=o+e;d[c]=g-(C(e<<10 or s)<<1)-dim*C((a<<9)-256+72//a)
 if not l:b=C(e or 1);h=(2*o+1)*b;g=2*b-g+dim*C(f+i);b=dim*C(a);g+=b;h+=b;b=dim*C(f);g-=b;h+=b;h=(h>>8)-a*(g>>8)-(a*(g&255)>>8);d[c+2]=h-123*dim//a-61//(e or 1)
def merge(c,i=0):
 clusters,dim,l,m,n,h,m0,b0=c.D;b=c.F;a=3*dim+3;d=c.counts;g=-1
 for k in range(clusters):
  if d[k]:c.G(m0,k,d[k],0)
 h=b[2-a]+(C(h)-(10<<16)>>7)+740
 for k in range(clusters):
  for f in range(k):
   if d[k]and d[f]:
    for e in range(a):b[e-a]=b[k*a+e]+b[f*a+e]
    c.G(m0,clusters,d[k]+d[f],0);j=b[2-a]-b[k*a+2]-b[f*a+2]+h
    if j<i:i=j;g=k;c.E=f
 for e in range(a):b[e-a]=0
 c.G(m0,clusters,0,0)
 if g>=0:
  f=c.E
  for e in range(a):b[f*a+e]+=b[g*a+e];b[g*a+e]=0
  c.G(m0,f,d[f]+d[g],0);d[g]=0;c.k-=1
 return g
