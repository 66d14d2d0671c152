from gc import collect
import mapdpm_i1
collect()
import mapdpm_i2
collect()
import mapdpm_i3
collect()
from mapdpm_i3 import MAPDPM
