import { InlayError, type Principal } from '@inlay/protocol'
import type { ClientFile, ClientTurn } from '../contracts/client-turn.ts'
import type { BranchHistory, ConversationStore, PastMessage } from '../contracts/conversation-store.ts'
import type { FileStore, StoredFile } from '../contracts/file-store.ts'
import { toArguments } from '../prompt/model-steps.ts'
import type { ClientTurns, DocumentReader } from './client-turn.ts'
import type { TurnParts } from './turn-parts.ts'

/** The parts with which the turn of a client is planned and run: what it brings covers what is stored. */
export function clientParts(parts: TurnParts, client: ClientTurn, caller: Principal): TurnParts {
  const { history, isStored = true, files: held = [], sessionId } = client
  const { conversations: stored, clientTurns: turns, newId } = parts
  const files = held.length === 0 ? parts.files : withClientFiles(parts.files, held, caller.id, turns.readDocument)
  const given = async () => ({ summary: null, summaryFiles: [], messages: await toPastMessages(client, files, caller) })
  const kept: ConversationStore =
    history || sessionId !== undefined
      ? {
          ...stored,
          open: async (opening) => ({
            ...(await stored.open({ ...opening, newSessionId: sessionId })),
            ...(history && (await given())),
          }),
        }
      : stored
  const conversations = isStored ? kept : unstored(client, { given, stored, turns, newId })
  return {
    ...parts,
    conversations,
    files,
    canAsk: false,
    ...(!isStored && { runs: turns.runs, sharing: undefined }),
  }
}

/** Conversations of one turn that leaves nothing behind. It may go on from a stored one. */
function unstored(
  { history }: ClientTurn,
  {
    given,
    stored,
    turns,
    newId,
  }: { given: () => Promise<BranchHistory>; stored: ConversationStore; turns: ClientTurns; newId: () => string },
): ConversationStore {
  return {
    session: stored.session,
    open: async ({ text, files: attached, models, session, parentId, history: limits }) => ({
      ...(session && !history
        ? await stored.branch(session.id, parentId === -1 ? null : parentId, limits)
        : await given()),
      sessionId: newId(),
      isNewSession: false,
      userMessageId: turns.nextId(),
      userText: text,
      files: attached,
      answerIds: models.map(turns.nextId),
    }),
    finish: async () => {},
    running: async () => [],
    branch: given,
    generatedFileIds: async () => [],
  }
}

/** Files that are unknown or another caller's are left out. */
async function toPastMessages(
  { history = [] }: ClientTurn,
  files: Pick<FileStore, 'find'>,
  caller: Principal,
): Promise<PastMessage[]> {
  const named = [...new Set(history.flatMap(({ fileIds = [] }) => fileIds))]
  const owned = named.length === 0 ? [] : await files.find(named, caller)
  const byId = new Map(owned.flatMap((file) => [[file.id, file] as const, [file.fileId, file] as const]))
  return history.map(({ role, text, fileIds = [], steps = [] }, index) => {
    const toolCalls = steps.flatMap(({ calls }, step) =>
      calls.map(({ id, name, arguments: json, result }) => {
        return { step, callId: id, name, arguments: toArguments(json), result }
      }),
    )
    const said = [...steps.map((step) => step.text), text].filter((part) => part !== '').join('\n\n')
    return {
      id: index + 1,
      role,
      status: 'done',
      text: said,
      files: fileIds.flatMap((named) => {
        const { id, fileId, kind, name } = byId.get(named) ?? {}
        return fileId === undefined || kind === undefined ? [] : [{ id: fileId, type: kind, name, user_file_id: id }]
      }),
      toolCalls,
      callCount: toolCalls.length,
      params: null,
    }
  })
}

const kindOf = ({ mediaType }: ClientFile): StoredFile['kind'] =>
  mediaType.startsWith('image/') ? 'image' : mediaType.startsWith('text/') ? 'plain_text' : 'document'

/** A store that also has the files of a client, for as long as the turn lasts. */
function withClientFiles(
  store: FileStore,
  held: readonly ClientFile[],
  ownerId: string,
  readDocument: DocumentReader | undefined,
): FileStore {
  const byId = new Map(held.map((file) => [file.id, file]))
  const toStored = (file: ClientFile): StoredFile => ({
    id: file.id,
    fileId: file.id,
    ownerId,
    name: file.name,
    mediaType: file.mediaType,
    kind: kindOf(file),
    sizeBytes: file.bytes.byteLength,
    status: 'COMPLETED',
    reason: null,
    tokens: null,
    createdAt: 0,
    usedAt: null,
  })
  const join = async (
    ids: readonly string[],
    others: (ids: readonly string[]) => Promise<readonly StoredFile[]>,
  ): Promise<readonly StoredFile[]> => {
    const stored = new Map(
      (await others(ids.filter((id) => !byId.has(id)))).flatMap((file) => [
        [file.id, file],
        [file.fileId, file],
      ]),
    )
    return ids.flatMap((id) => {
      const own = byId.get(id)
      return own ? [toStored(own)] : (stored.get(id) ?? [])
    })
  }
  return {
    ...store,
    find: (ids, caller) => join(ids, (rest) => store.find(rest, caller)),
    byIds: (ids) => join(ids, (rest) => store.byIds(rest)),
    sections: async (file, signal) => {
      const own = byId.get(file.id)
      if (!own) return store.sections(file, signal)
      if (file.kind === 'image') return []
      if (readDocument) return (await readDocument(own)).sections
      if (file.kind === 'plain_text') return [{ text: new TextDecoder().decode(own.bytes) }]
      throw new InlayError('INVALID_INPUT', { message: `${file.name} cannot be read here: send its text.` })
    },
    bytes: async (file) => byId.get(file.id)?.bytes ?? store.bytes(file),
    openById: async (id) => {
      const own = byId.get(id)
      if (!own) return store.openById(id)
      return { file: toStored(own), bytes: new Blob([own.bytes.slice()]).stream() }
    },
    noteUse: (ids) => store.noteUse(ids.filter((id) => !byId.has(id))),
    ensureIndexed: (files, waitMs) =>
      store.ensureIndexed(
        files.filter(({ id }) => !byId.has(id)),
        waitMs,
      ),
  }
}
