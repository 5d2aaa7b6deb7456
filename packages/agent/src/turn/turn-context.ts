import type { LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider'
import { InlayError } from '@inlay/protocol'
import type { BaseFilters, ChatSessionCreationRequest, FileDescriptor, Principal } from '@inlay/protocol'
import { checkDescriptors, loadAttachments, type Attachments } from '../prompt/attachments.ts'
import {
  createFileExcerpts,
  createFileSearch,
  toContextImages,
  toContextMessage,
  weighContextFiles,
  type ContextFiles,
} from '../prompt/context-files.ts'
import { estimateTokens } from '../prompt/context-window.ts'
import type { Action, ExcerptReader, PassageSearch } from '../contracts.ts'
import type { FileIndex, StoredFile } from '../files/contracts.ts'
import type { FileStore } from '../files/files.ts'
import type { Personalization } from '../memories/contracts.ts'
import type { Persona, Personas } from '../personas/contracts.ts'
import type { NamedDocumentSet } from '../personas/personas.ts'
import type { StoredProject } from '../projects/contracts.ts'
import { linkedFileIds, ownProject } from '../projects/projects.ts'
import type { AgentDatabase } from '../records/tables.ts'
import { personaFilters } from './persona-filters.ts'

/** What surroundings are looked up in. */
export interface SurroundingsOptions {
  readonly db: AgentDatabase
  readonly files: FileStore
  readonly personas: Personas
  readonly index: FileIndex | undefined
  readonly search: PassageSearch | undefined
  /** Makes the search action over files. */
  readonly searchAction: (search: PassageSearch, readExcerpt?: ExcerptReader) => Action
  readonly readExcerpt: ExcerptReader | undefined
  readonly documentSets: (caller: Principal) => Promise<readonly NamedDocumentSet[]>
  /** What the model is told of a caller. */
  readonly person: (caller: Principal) => Promise<Personalization>
  /** Longest wait for context files that are still being read or indexed, in milliseconds. */
  readonly waitMs: number
}

/** Where a message is sent: its agent, its project, its files. */
export interface Place {
  readonly personaId: number
  readonly projectId: number | null
  readonly descriptors: readonly FileDescriptor[]
  readonly filters: BaseFilters | null
  readonly caller: Principal
  /** The session it is sent to; absent for one that is not there yet. */
  readonly sessionId?: string
}

/** What surrounds a message, checked. */
export interface Surroundings {
  readonly persona: Persona
  /** Null outside of projects, and where the agent is not the default one. */
  readonly project: StoredProject | null
  /** Of the message, complete. */
  readonly descriptors: readonly FileDescriptor[]
  /** The request's filters with what the agent adds. */
  readonly filters: BaseFilters | null
  /** Files of the project or agent. */
  readonly files: readonly StoredFile[]
  /** What the model is told of who asks; looked up with each call. */
  person(): Promise<Personalization>
  /** What the context files are; weighs and waits at the first call. */
  weigh(room: { readonly contextTokens: number; readonly userText: string }): Promise<ContextFiles>
  /** The actions there are, as this place leaves and adds them. */
  offer(available: readonly Action[], context: ContextFiles): readonly Action[]
}

/** Looks up what surrounds messages. */
export interface SurroundingsFinder {
  /** PERSONA_NOT_FOUND, NOT_FOUND (project, file). */
  find(place: Place): Promise<Surroundings>
  /** Refuses settings of a session: PERSONA_NOT_FOUND, NOT_FOUND (project), DEPLOYMENT_UNSUPPORTED (incognito). */
  check(info: ChatSessionCreationRequest | null, caller: Principal): Promise<void>
  /** Loads the files of a conversation's messages, newest message first. */
  attachments(options: {
    readonly messages: readonly (readonly FileDescriptor[])[]
    readonly takesImages: boolean
    readonly contextTokens: number
    readonly signal: AbortSignal
  }): Promise<Attachments>
  /** Pictures of the context, for models that see. */
  images(context: ContextFiles): Promise<readonly LanguageModelV4FilePart[]>
}

/** Share of the context that the files of messages may fill. */
const attachedShare = 0.6

/** Makes the finder. */
export function createSurroundings(options: SurroundingsOptions): SurroundingsFinder {
  const { db, files, personas } = options
  return {
    find: async (place) => findSurroundings(place, options),
    check: async (info, caller) => {
      if (info?.incognito === true) {
        throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: 'Incognito sessions are not offered here.' })
      }
      await personas.get(info?.persona_id ?? 0, caller)
      if ((info?.project_id ?? null) !== null) await ownProject(db, info?.project_id ?? 0, caller.id)
    },
    attachments: async ({ messages, takesImages, contextTokens, signal }) =>
      loadAttachments({ files, messages, takesImages, limitTokens: contextTokens * attachedShare, signal }),
    images: async (context) => toContextImages(context, files),
  }
}

async function findSurroundings(place: Place, options: SurroundingsOptions): Promise<Surroundings> {
  const { db, files, personas, index, waitMs } = options
  const { personaId, projectId, caller } = place
  const persona = await personas.get(personaId, caller)
  const inProject = projectId === null ? null : await ownProject(db, projectId, caller.id)
  // With another agent a project is only a folder of chats.
  const project = persona.id === 0 ? inProject : null
  const { descriptors, files: attached } = await checkDescriptors(place.descriptors, caller, files)
  const { filters, searchesNothing } = await personaFilters(persona, place, options)
  const held = await files.byIds(project ? await linkedFileIds(db, project.id) : persona.fileIds)
  const hasFiles = attached.length + held.length > 0 || (await sessionHasFiles(db, place.sessionId))
  let context: Promise<ContextFiles> | undefined
  return {
    persona,
    project,
    descriptors,
    filters,
    files: held,
    person: () => options.person(caller),
    weigh: (room) =>
      (context ??= weighContextFiles({
        store: files,
        files: held,
        leftTokens: leftTokens(room, { persona, project }, attached),
        canSearch: index !== undefined,
        waitMs,
      })),
    offer: (available, weighed) =>
      offerActions(available, weighed, { ...options, persona, project, hasFiles, searchesNothing }),
  }
}

function leftTokens(
  { contextTokens, userText }: { readonly contextTokens: number; readonly userText: string },
  { persona, project }: Pick<Surroundings, 'persona' | 'project'>,
  attached: readonly StoredFile[],
): number {
  const answer = Math.min(4_096, contextTokens / 4)
  const told = [userText, persona.systemPrompt, persona.taskPrompt, project?.instructions ?? ''].join('\n')
  const files = attached.reduce((sum, { tokens, sizeBytes }) => sum + (tokens ?? sizeBytes / 8), 0)
  return Math.max(0, contextTokens - answer - estimateTokens(told) - Math.min(files, contextTokens * attachedShare))
}

interface Offer
  extends
    Pick<Surroundings, 'persona' | 'project'>,
    Pick<SurroundingsOptions, 'index' | 'search' | 'searchAction' | 'readExcerpt'> {
  /** Some file came with a message, or belongs to the project or agent. */
  readonly hasFiles: boolean
  /** None of the agent's document sets can be searched. */
  readonly searchesNothing: boolean
}

const isSearch = ({ builtIn }: Action): boolean => builtIn === 'SearchTool'
const readsFiles = ({ builtIn }: Action): boolean => builtIn === 'FileReaderTool'
/** Belong to the chat and the person in it, not to what an agent is given. */
const isOfChat = (action: Action): boolean => readsFiles(action) || action.builtIn === 'MemoryTool'

/** In a project only its files are searched; an agent's files are searched beside its documents. */
function offerActions(available: readonly Action[], context: ContextFiles, offer: Offer): readonly Action[] {
  const { persona, project, index, search, searchesNothing, hasFiles } = offer
  const { actionIds } = persona
  const useful = hasFiles ? available : available.filter((action) => !readsFiles(action))
  const own = useful.filter((action) => (actionIds?.includes(action.id) ?? true) || isOfChat(action))
  const others = own.filter((action) => !isSearch(action))
  const searchesDocuments = project === null && !searchesNothing && own.some(isSearch)
  if (context.kind === 'searched' && index) {
    const fileSearch = createFileSearch(index, context.files, searchesDocuments ? search : undefined)
    const excerpts = createFileExcerpts(index, context.files, searchesDocuments ? offer.readExcerpt : undefined)
    return [...others, offer.searchAction(fileSearch, excerpts)].toSorted((one, other) => one.id - other.id)
  }
  return project !== null || searchesNothing ? others : own
}

async function sessionHasFiles(db: AgentDatabase, sessionId: string | undefined): Promise<boolean> {
  if (sessionId === undefined) return false
  const row = await db
    .selectFrom('inlay_chat_messages')
    .select('id')
    .where('session_id', '=', sessionId)
    .where('files', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Messages that stand right before the newest one: what the agent or project asks for, and the context files. */
export function toMessagesBefore(
  { persona, project }: Pick<Surroundings, 'persona' | 'project'>,
  context: ContextFiles,
): LanguageModelV4Message[] {
  const prompt = persona.replacesBasePrompt ? '' : persona.systemPrompt
  const instructions = [prompt, project?.instructions ?? ''].filter((text) => text.trim() !== '')
  const message = toContextMessage(context)
  return [
    ...instructions.map((text) => user(`Instructions for the next message:\n${text}`)),
    ...(message ? [message] : []),
  ]
}

/** What the model is reminded of after the conversation. */
export function toReminder({ taskPrompt }: Persona): LanguageModelV4Message[] {
  return taskPrompt.trim() === '' ? [] : [user(`Instructions to keep in mind:\n${taskPrompt}`)]
}

function user(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}
