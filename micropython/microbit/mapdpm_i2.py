from mapdpm_i1 import*
def surprise(b,g,j=True):
 clusters,dim,q,l,r,m,m0,b0=b.D
 if len(g)!=dim or min(g)<-2047 or max(g)>2047:raise ValueError('x: dim ints of -2047..2047')
 h=b.F;e=1<<29;i=c=0
 for k in range(clusters+1):
  d=b.counts[k]if k<clusters else 0
  if d or k==clusters:
   n=q+l*d;f=h[c];o=-h[c+1];m+=d<<10;d+=r+1
   for p in range(dim):c+=3;a=((g[p]-m0[p])*n-l*h[c]<<3)//n;o+=C(h[c+2]+(a*a+32>>6))
   c-=3*dim;f+=min(o,(1<<29)//d)*d;a=b.B=abs(f-e)
   if j:a=8192-(a>>5&4095)>>1>>(a>>17);i=i+a if e<f else(i*a>>12)+4096
   if f<e:b.E=b.A;b.A=k;e=f
  c+=3*dim+3
 if j:return e+2*(C(m)-C(i))+dim*763593+(24<<16)>>9
