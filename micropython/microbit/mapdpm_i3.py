from mapdpm_i1 import*
from mapdpm_i2 import*
from array import array
def __init__(a,dim,clusters,m0,b0,c0=(1,10),a0=(1,1),alpha=(1,1)):
 d,e=c0;b=2*a0[0]//a0[1];c=(alpha[0]<<10)//alpha[1]
 if not((0<d<33>e>0<b<129 and 0<c<1<<20 and(clusters<128))and len(m0)==len(b0)==dim and(min(m0)>-2048 and max(m0)<2048 and(min(b0)>0)and(max(b0)<=1<<22))):raise ValueError('prior out of range')
 a.k=a.A=a.E=a.B=0;a.counts=[0]*clusters;a.D=(clusters,dim,d,e,b,c,m0,b0);a.F=array('i',[0]*((clusters+1)*(3*dim+3)));a.G(m0,clusters,0,0)
def mean(a,k):
 clusters,dim,e,d,g,h,m0,b0=a.D;b=list(m0)
 for c in range(dim):f=k*(3*dim+3)+3*c+3;b[c]+=d*a.F[f]//(e+d*a.counts[k])
 return b
def learn(a,b):
 a.surprise(b,False);k=a.A
 if k==a.D[0]:
  if a.k<k:k=a.counts.index(0)
  else:
   k=a.merge(a.B>>9)
   if k<0:k=a.E
 if a.counts[k]<1:a.k+=1
 a.G(b,k,a.counts[k]+1,1);return k
def predict(a,b):a.surprise(b,False);return-1 if a.A==a.D[0]else a.A
MAPDPM=type('MAPDPM',(),globals())
