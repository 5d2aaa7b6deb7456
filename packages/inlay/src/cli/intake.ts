import { isInlayError, type IngestionRequest } from '@inlay/protocol'
import type { Inlay } from '../inlay.ts'
import type { Service } from './service.ts'

/** Result of accepting a document; a server does not distinguish `unchanged` from `changed`. */
export type Acceptance = 'new' | 'changed' | 'unchanged'

/** Destination of documents: the data folder, or a server. */
export interface Intake {
  accept(request: IngestionRequest): Promise<Acceptance>
  /** State of a document; undefined if it does not exist. */
  state(id: string): Promise<{ readonly phase: string; readonly reason: string | null } | undefined>
  /** Number of documents in the queue, including those of other processes; undefined if unknown. */
  queued(): Promise<number | undefined>
  /** @returns false if the document did not exist */
  remove(id: string): Promise<boolean>
  idsWith(prefix: string): Promise<readonly string[]>
}

export function intakeOf(service: Service): Intake {
  return service.inlay ? localIntake(service, service.inlay) : remoteIntake(service)
}

function localIntake(service: Service, { knowledge }: Inlay): Intake {
  return {
    ...remoteIntake(service),
    async accept(request) {
      const { alreadyExisted, isUnchanged } = await knowledge.accept(request)
      if (isUnchanged) return 'unchanged'
      return alreadyExisted ? 'changed' : 'new'
    },
    async state(id) {
      const status = await knowledge.status(id)
      return status && { phase: status.phase, reason: status.reason }
    },
    async queued() {
      const { documents } = await knowledge.figures()
      return documents.pending + documents.indexing
    },
  }
}

function remoteIntake({ client }: Service): Intake {
  const unlessMissing = async <Result>(call: Promise<Result>): Promise<Result | undefined> =>
    call.catch((error: unknown) => {
      if (isInlayError(error) && error.code === 'DOCUMENT_NOT_FOUND') return undefined
      throw error
    })
  return {
    async accept({ document, cc_pair_id: pairId }) {
      const { already_existed: existed } = await client.ingest(document, {
        ...(typeof pairId === 'number' && { ccPairId: pairId }),
      })
      return existed ? 'changed' : 'new'
    },
    async state(id) {
      const state = await unlessMissing(client.documentState(id))
      return state && { phase: state.state, reason: state.reason }
    },
    queued: async () => undefined,
    remove: async (id) => (await unlessMissing(client.deleteDocument(id).then(() => true))) ?? false,
    async idsWith(prefix) {
      const ids: string[] = []
      for (let after: string | null | undefined; after !== null;) {
        const page = await client.documents({ match: prefix, limit: 1000, ...(after !== undefined && { after }) })
        ids.push(...page.documents.map(({ document_id: id }) => id).filter((id) => id.startsWith(prefix)))
        after = page.next
      }
      return ids
    },
  }
}
