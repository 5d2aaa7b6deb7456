// One CommonJS module, since only tables of the Arrow build that LanceDB itself requires go to it as they are. The
// build bundles both: installed from npm, LanceDB would bring transformers, onnxruntime and sharp.
module.exports = { lancedb: require('@lancedb/lancedb'), arrow: require('apache-arrow') }
