# Modules to freeze into firmware, beside what the board has anyway. A manifest of your own says
#     include("$(PORT_DIR)/boards/manifest.py")
#     include("/path/to/dpmlite/micropython/manifest.py")
# and is built by make ... FROZEN_MANIFEST=/path/to/your/manifest.py. The second line ends in
# `, viper=False)` for firmware that has no viper code: mpy-cross says "invalid arch" there.

metadata(
    version="0.1.0",
    description="Clustering without being told the number of clusters",
    license="MIT",
)
options.defaults(viper=True)

module("mapdpm_int.py", opt=3)
module("mapdpm_batch.py", opt=3)
module("mapdpm_float.py", opt=3)
module("mapdpm_alarm.py", opt=3)
module("mapdpm_setup.py", opt=3)
module("mapdpm_split.py", opt=3)
module("features_int.py", opt=3)
if options.viper:
    module("mapdpm_viper.py", opt=3)
