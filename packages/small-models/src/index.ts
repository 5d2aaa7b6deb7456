/**
 * Help for language models that call no tools by themselves or do not cite. A model gets it by what is recorded of it, so that nothing
 * of this package is loaded for others.
 */
import type { SmallModels } from '@inlay/agent'
import { compareCitations } from './citations/compared-citations.ts'
import { givenModel } from './given-model.ts'
import { repairModel, repairModels } from './repair/model-repair.ts'
import { wording } from './wording.ts'

export { modelRepair, repairModel, repairModels } from './repair/model-repair.ts'
export type { RepairState } from './repair/output-repair.ts'

/** The help, for `createAgent({ smallModels: async () => smallModels })`; `createInlay` takes it where it is installed. */
export const smallModels: SmallModels = { givenModel, wording, compareCitations, repairModel, repairModels }
