import { callHook, InlayError, type IngestionRequest } from '@inlay/protocol'
import { privateFilesPair } from '../access-and-filters/permissions.ts'
import { readStatus } from '../access-and-filters/documents.ts'
import type { DocumentHooks } from '../contracts/document-hooks.ts'
import type { Caller } from '../contracts/pairs.ts'
import type { Records } from '../schema/tables.ts'
import { readDocument } from './read-document.ts'

export interface HookCallsOptions {
  readonly db: Records
  readonly hooks?: DocumentHooks | undefined
  readonly onError: (error: unknown) => void
}

/** Creates the calls to the host's hooks. Each does nothing if the host has no such hook. */
export function createHookCalls({ db, hooks = {}, onError }: HookCallsOptions): {
  /** @throws VALIDATION_ERROR with the host's reason, HOOK_EXECUTION_FAILED */
  judged(request: IngestionRequest, caller: Caller | undefined): Promise<IngestionRequest>
  /** Calls the host's hook for documents whose indexing has ended. */
  noteDone(documentIds: readonly string[]): void
  close(): Promise<void>
} {
  const underway = new Set<Promise<void>>()
  const report = async (id: string): Promise<void> => {
    const status = await readStatus(db, id, undefined)
    if (!status || status.pairIds.every((pairId) => pairId === privateFilesPair)) return
    const { phase, reason, chunkCount } = status
    if (phase === 'indexed' || phase === 'failed')
      await hooks.afterDocument?.({ documentId: id, phase, reason: phase === 'failed' ? reason : null, chunkCount })
  }
  return {
    judged: async (request, caller) => {
      const coming = { document: request.document, pairId: request.cc_pair_id || 1, caller }
      const verdict = await callHook(() => hooks.beforeDocument?.(coming), onError)
      if (verdict?.reject !== undefined)
        throw new InlayError('VALIDATION_ERROR', verdict.reject.trim() === '' ? {} : { message: verdict.reject })
      return verdict?.document ? readDocument({ ...request, document: verdict.document }) : request
    },
    noteDone: (ids) => {
      for (const id of ids) {
        const call = report(id).catch(onError)
        underway.add(call)
        void call.then(() => underway.delete(call))
      }
    },
    close: async () => void (await Promise.all(underway)),
  }
}
