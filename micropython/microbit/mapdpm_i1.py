def C(a):
 b=15<<16
 while a>>19:a>>=4;b+=4<<16
 while a>>16:a>>=1;b+=1<<16
 while not a>>15:a<<=1;b-=1<<16
 a-=32768;c=14376-(a*(7833-(a*2691>>15))>>15);return b+2*a+((a*(32768-a)>>15)*c>>14)
def G(m,p,k,e,l):
 clusters,dim,q,i,n,r,m0,b0=m.D;d=m.F;b=k*(3*dim+3)
 while True:
  f=q+i*e;g=o=0
  for j in range(dim):b+=3;a=p[j]-m0[j];d[b+1]+=l*(a*(a-1)>>1);d[b]+=l*a;a=d[b];c=i*a//f;h=i*a-c*f;o|=d[b+1]>250000000;a+=b0[j]+d[b+1]-c*a+d[b+1]+b0[j]-(c*h+h*h//f)//i;d[b+2]=a+a//f*i+a%f*i//f;g+=C(d[b+2])
  if k==clusters or(f<16000 and(not o)):break
  for j in range(dim):c=i*d[b]//f;a=d[b]+e%2*c;d[b+1]=d[b+1]+(e%2*c*(c-1)>>1)-a%2*c>>1;d[b]=a>>1;b-=3
  e=e+1>>1;l=0
 b-=3*dim;d[b+1]=g
 if k<clusters:m.counts[k]=e
 a=n+e;d[b]=g-2*C(e<<10 or r)-dim*C((a<<9)-256+72//a)
 if not l:c=C(e or 1);h=(2*n+1)*c;g=2*c-g+dim*C(f+i);c=dim*C(a);g+=c;h+=c;c=dim*C(f);g-=c;h+=c;h=(h>>8)-a*(g>>8)-(a*(g&255)>>8);d[b+2]=h-123*dim//a-61//(e or 1)
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
