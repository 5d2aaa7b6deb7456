import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel, type ScriptedModel } from '@inlay/agent/testing'
import type { AcceptInput, AcceptOptions, FileDocument } from '@inlay/knowledge'
import { InlayError, type ChatFullResponse, type Principal, type SendMessageInput } from '@inlay/protocol'
import { createInlay, type Inlay } from '../inlay.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { turnScript, type TestAnswers } from './turn-script.ts'

/** A document, alone or with its pair as `accept` takes it; a file, or the path of one. */
export type TestDocument = AcceptInput | AcceptInput['document'] | FileDocument | string

/** Answers and documents, beside the options of `createInlay` but for model and folder. */
export interface TestInlaySetup extends Omit<InlayOptions, 'dataFolder' | 'model'> {
  /** What the model says. Default: the built-in model quotes the documents. */
  readonly answers?: TestAnswers
  /** Searchable before the first question. */
  readonly documents?: readonly TestDocument[]
}

/** Fields of the message besides its text, and who sends it. Default: the operator, in a new session. */
export interface AskOptions extends Omit<SendMessageInput, 'message'> {
  readonly caller?: Principal
}

/** An assistant for tests. `close()`, which `await using` calls, removes its data. */
export interface TestInlay extends Inlay, AsyncDisposable {
  /** The key that requests to `fetch` need: `authorization: Bearer …`. */
  readonly apiKey: string
  /** What the model was sent so far, oldest first: prompt, tools, settings. Empty without `answers`. */
  readonly requests: ScriptedModel['requests']
  /**
   * Sends a message and returns the whole answer, as `stream: false` does over HTTP. Rejects if the script has no answer; what
   * else goes wrong is its `error_msg`.
   */
  ask(message: string, options?: AskOptions): Promise<ChatFullResponse>
  /** Resolves with the ids once all are searchable; rejects with the reason why one is not. */
  ingestAndWait(documents: TestDocument | readonly TestDocument[]): Promise<string[]>
}

/**
 * Creates an assistant for tests, with a temporary folder of its own: no key, no network, no trial of the model.
 * @example
 * await using inlay = await createTestInlay({
 *   documents: [{ semantic_identifier: 'Opening hours', sections: [{ text: 'The lab opens at eight.' }] }],
 *   answers: ['The lab opens at eight [1].'],
 * })
 * assertCites(await inlay.ask('When does the lab open?'), 'Opening hours')
 */
export async function createTestInlay(options: TestInlaySetup = {}): Promise<TestInlay> {
  const { answers, documents = [], apiKey = 'key-of-the-tests', ...rest } = options
  let scriptEnd: Error | undefined
  const model = scriptedModel(turnScript(answers ?? [], (error) => (scriptEnd = error)))
  const dataFolder = await mkdtemp(join(tmpdir(), 'inlay-test-'))
  const inlay = createInlay({
    localModels: false,
    // The model is called for answers alone, so that its script is followed.
    sessionNames: 'off',
    searchHelp: { expand: false },
    ...rest,
    apiKey,
    dataFolder,
    ...(answers && { model: { name: 'scripted', model, grounding: 'tools', comparesCitations: false } }),
    limits: { maxModelAttempts: 1, ...rest.limits },
    worker: { lingerMs: 1, ...rest.worker },
  })
  const close = async (): Promise<void> => {
    await inlay.close()
    await rm(dataFolder, { recursive: true, force: true, maxRetries: 10 })
  }
  const ingestAndWait: TestInlay['ingestAndWait'] = (given) =>
    Promise.all([given].flat().map((document) => ingest(inlay, document)))
  await ingestAndWait(documents).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    ...inlay,
    apiKey,
    requests: model.requests,
    ingestAndWait,
    async ask(message, { caller, ...fields } = {}) {
      scriptEnd = undefined
      const run = await inlay.agent.send({ ...fields, message }, { ...(caller && { caller }) })
      const answer = await run.whole()
      if (scriptEnd) throw scriptEnd
      return answer
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function ingest({ knowledge }: Inlay, given: TestDocument): Promise<string> {
  const wait: AcceptOptions = { waitMs: 60_000 }
  const { documentId } =
    typeof given === 'string'
      ? await knowledge.ingestFile({ file: { name: given, bytes: await readFile(given) } }, wait)
      : 'file' in given
        ? await knowledge.ingestFile(given, wait)
        : await knowledge.accept('document' in given ? given : { document: given }, wait)
  const status = await knowledge.status(documentId)
  if (status?.phase === 'indexed') return documentId
  const reason = status?.reason ?? 'it is not searchable after a minute'
  throw new InlayError('SERVICE_UNAVAILABLE', { message: `The document "${documentId}" was not indexed: ${reason}` })
}
