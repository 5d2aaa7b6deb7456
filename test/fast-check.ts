/** Properties are tried with the same values in every run; `INLAY_TEST_SEED` takes others. */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env['INLAY_TEST_SEED'] ?? 1) })

export default fc
