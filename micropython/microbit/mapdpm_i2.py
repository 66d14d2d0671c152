from mapdpm_i1 import*
def surprise(b,g,l=True):
 clusters,dim,s,m,n,o,m0,b0=b.D
 if len(g)!=dim or min(g)<-2047 or max(g)>2047:raise ValueError('x: dim ints of -2047..2047')
 h=b.F;counts=b.counts;r=C;e=1<<29;i=c=0
 for k in range(clusters+1):
  f=counts[k]if k<clusters else 0
  if f or k==clusters:
   p=s+m*f;d=h[c];j=-h[c+1];f+=n+1
   for q in range(dim):c+=3;a=((g[q]-m0[q])*p-m*h[c]<<3)//p;j+=r(h[c+2]+(a*a>>6))
   if j<(1<<29)//f:d+=j*f
   else:d=1<<29
   if l:o+=f-n-1<<10;a=abs(d-e);a=8192-(a>>5&4095)>>1>>(a>>17);i=i+a if e<d else(i*a>>12)+4096
   if d<e:b.B=e-d;b.E=b.A;b.A=k;e=d
   c+=3
  else:c+=3*dim+3
 if l:return e+2*(C(o)-C(i))+dim*763593+(24<<16)>>9
