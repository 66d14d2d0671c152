# Modules to freeze into firmware: make ... FROZEN_MANIFEST=/path/to/this/manifest.py

metadata(version="0.1.0", description="Clustering without being told the number of clusters")

module("mapdpm_int.py", opt=3)
module("mapdpm_batch.py", opt=3)
module("mapdpm_float.py", opt=3)
# Needs firmware that compiles viper code: leave it out elsewhere.
module("mapdpm_viper.py", opt=3)
