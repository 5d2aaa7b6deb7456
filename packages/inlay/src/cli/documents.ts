import {
  documentStates,
  InlayError,
  isInlayError,
  type DocMinimalInfo,
  type DocumentStateName,
  type IngestionState,
} from '@inlay/protocol'
import { actionOf } from './action-of.ts'
import { misuse, textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { withService, type Service } from './service.ts'
import { plain } from './terminal-markdown.ts'
import { option } from './shared-options.ts'

export const documents: Command = {
  ...commandTable.documents,
  details: [
    'list prints id, state and title, one document per line; --match filters by part of the title or id.',
    'show prints why a document failed. retry returns failed documents to the queue: all, or the given ids.',
  ],
  words: [0, Number.POSITIVE_INFINITY],
  options: {
    state: option(documentStates.join('|'), 'only documents in this state', { action: 'list' }),
    match: option('text', 'only documents with this in their title or id', { action: 'list' }),
    limit: option('number', 'maximum number of documents (default: 100; all: 0)', { action: 'list' }),
  },
  async run(context) {
    const usage = { list: '', show: '<id…>', delete: '<id…>', retry: '[id…]' }
    const { action, given: ids } = actionOf(context, documents, usage)
    const actions: Readonly<Record<typeof action, (service: Service) => Promise<number>>> = {
      list: (service) => list(context, service),
      show: (service) => show(context, service, ids),
      delete: (service) => remove(context, service, ids),
      retry: (service) => retry(context, service, ids),
    }
    // Retried documents are indexed by this process, unless a server does it first.
    return withService(context, actions[action], { indexes: action === 'retry' })
  },
}

async function list(context: CommandContext, { client }: Service): Promise<number> {
  const { output, signal } = context
  const [state, match] = [stateOf(textOption(context, 'state')), textOption(context, 'match')]
  let left = limitOf(textOption(context, 'limit'))
  const listed: DocMinimalInfo[] = []
  let next: string | null = null
  do {
    const page = await client.documents({
      ...(state !== undefined && { state }),
      ...(match !== undefined && { match }),
      ...(next !== null && { after: next }),
      limit: Math.min(1000, left),
      signal,
    })
    if (output.isJson) listed.push(...page.documents)
    else page.documents.forEach((document) => output.line(rowOf(document, output)))
    left -= page.documents.length
    if (page.documents.length === 0 && next === null && !output.isJson) output.note('No documents found.')
    next = page.next
  } while (next !== null && left > 0)
  if (output.isJson) output.json(listed)
  else if (next !== null) output.note('There are more: --limit 0 lists all.')
  return 0
}

function rowOf(
  { document_id: id, semantic_id: title, state }: DocMinimalInfo,
  { styled }: CommandContext['output'],
): string {
  return `${styled(state === 'failed' ? 'red' : 'dim', state.padEnd(8))}  ${plain(id)}  ${plain(title)}`
}

async function show({ output, signal }: CommandContext, { client }: Service, ids: readonly string[]): Promise<number> {
  const states: IngestionState[] = []
  for (const id of ids) states.push(await named(id, client.documentState(id, { signal })))
  const linesOf = ({ document_id: id, ...state }: IngestionState): string[] => {
    const known = Object.entries(state).filter(([, value]) => value !== null)
    const lines = known.map(([name, value]) => `  ${name.replaceAll('_', ' ')}: ${plain(String(value))}`)
    return [output.styled('bold', plain(id)), ...lines]
  }
  output.result(states, states.flatMap(linesOf))
  return states.some(({ state }) => state === 'failed') ? 1 : 0
}

/** Names the document that is missing: several may be given. */
function named<Result>(id: string | undefined, call: Promise<Result>): Promise<Result> {
  return call.catch((error: unknown) => {
    if (!isInlayError(error) || error.code !== 'DOCUMENT_NOT_FOUND') throw error
    throw new InlayError(error.code, { message: `there is no document "${id}": see inlay documents list.` })
  })
}

async function remove(
  { output, signal }: CommandContext,
  { client }: Service,
  ids: readonly string[],
): Promise<number> {
  for (const id of ids) {
    await named(id, client.deleteDocument(id, { signal }))
    if (!output.isJson) output.line(`${plain(id)} is deleted.`)
  }
  if (output.isJson) output.json({ deleted: ids })
  return 0
}

async function retry({ output, signal }: CommandContext, { client }: Service, ids: readonly string[]): Promise<number> {
  let requeued = 0
  for (const id of ids.length === 0 ? [undefined] : ids) requeued += await named(id, client.requeue(id, { signal }))
  output.result({ requeued }, `${requeued} ${requeued === 1 ? 'document is' : 'documents are'} back in the queue.`)
  return 0
}

function stateOf(text: string | undefined): DocumentStateName | undefined {
  const state = documentStates.find((known) => known === text)
  if (text !== undefined && state === undefined) throw misuse(`--state takes one of ${documentStates.join(', ')}.`)
  return state
}

function limitOf(text = '100'): number {
  if (!/^\d{1,9}$/.test(text)) throw misuse('--limit needs a number; 0 lists all.')
  return Number(text) === 0 ? Number.MAX_SAFE_INTEGER : Number(text)
}
