// One CommonJS module, since LanceDB accepts tables directly only from the Arrow build that it requires itself. The
// build bundles both: installed from npm, LanceDB would bring transformers, onnxruntime and sharp.
module.exports = { lancedb: require('@lancedb/lancedb'), arrow: require('apache-arrow') }
