import {
  InlayError,
  type BaseFilters,
  type Principal,
  type ChatSessionCreationRequest,
  type FileDescriptor,
} from '@inlay/protocol'
import type { OpenedTurn } from '../contracts/conversation-store.ts'
import type { Persona, PersonaLookup, ProjectLookup } from '../contracts/persona.ts'
import { createFileExcerpts, createFileSearch } from '../actions/internal-search/file-search.ts'
import type { Action, TurnFiles } from '../contracts/action.ts'
import type { StoredFile } from '../contracts/file-store.ts'
import { attachedShare, checkDescriptors } from '../prompt/attachments.ts'
import { loadContextFiles } from './context-files.ts'
import { estimateTokens } from '../prompt/context-window.ts'
import { toSearchAction } from '../tool-calls/built-in-actions.ts'
import type { ContextFiles, TurnContext, TurnParts } from './turn-parts.ts'

/** @throws PERSONA_NOT_FOUND, NOT_FOUND (project), DEPLOYMENT_UNSUPPORTED (incognito) */
export async function checkSessionSettings(
  info: ChatSessionCreationRequest | null,
  caller: Principal,
  { personas, projects }: { readonly personas: PersonaLookup; readonly projects: ProjectLookup },
): Promise<void> {
  if (info?.incognito === true) {
    throw new InlayError('DEPLOYMENT_UNSUPPORTED', { message: 'Incognito sessions are not supported.' })
  }
  await personas.get(info?.persona_id ?? 0, caller)
  if ((info?.project_id ?? null) !== null) await projects.get(info?.project_id ?? 0, caller)
}

/** @throws PERSONA_NOT_FOUND, NOT_FOUND (project, file) */
export async function findTurnContext(
  place: {
    readonly personaId: number
    readonly projectId: number | null
    readonly descriptors: readonly FileDescriptor[]
    readonly filters: BaseFilters | null
    readonly caller: Principal
    /** Whether an earlier message of the session has files. */
    readonly hasFiles: boolean
  },
  parts: TurnParts,
): Promise<TurnContext> {
  const { files, personas, projects } = parts
  const { personaId, projectId, caller } = place
  const persona = await personas.get(personaId, caller)
  const inProject = projectId === null ? null : await projects.get(projectId, caller)
  // With another agent, a project is only a folder of chats.
  const project = persona.id === 0 ? inProject : null
  const { descriptors, files: attached } =
    place.descriptors.length === 0
      ? { descriptors: [], files: [] }
      : await checkDescriptors(place.descriptors, caller, files)
  const { filters, searchesNothing } = await personaFilters(persona, place, parts)
  const heldIds = project?.fileIds ?? persona.fileIds
  const held = heldIds.length === 0 ? [] : await files.byIds(heldIds)
  const hasFiles = attached.length + held.length > 0 || place.hasFiles
  return { persona, project, descriptors, filters, files: held, attached, hasFiles, searchesNothing }
}

/** Decides how the files of the project or agent reach the model; waits until they are read. */
export async function readContextFiles(
  context: TurnContext,
  contextTokens: number,
  userText: string,
  parts: TurnParts,
): Promise<ContextFiles> {
  const { persona, project, attached, files: held } = context
  if (held.length === 0) return { kind: 'in-prompt', documents: [], texts: [], images: [] }
  const answer = Math.min(4_096, contextTokens / 4)
  const texts = [userText, persona.systemPrompt, persona.taskPrompt, project?.instructions ?? ''].join('\n')
  const files = attached.reduce((sum, { tokens, sizeBytes }) => sum + (tokens ?? sizeBytes / 8), 0)
  const room = contextTokens - answer - estimateTokens(texts) - Math.min(files, contextTokens * attachedShare)
  return loadContextFiles(held, Math.max(0, room), parts)
}

/** In a project only its files are searched; an agent's files are searched in addition to its documents. */
export function offerActions(
  available: readonly Action[],
  contextFiles: ContextFiles,
  { persona: { actionIds, actionNames }, project, searchesNothing, hasFiles }: TurnContext,
  parts: TurnParts,
): readonly Action[] {
  const own = available.filter(({ id, name, builtIn, needsGrant = false }) => {
    if (builtIn === 'FileReaderTool') return hasFiles
    // Memories belong to the user, not to what an agent is granted.
    return builtIn === 'MemoryTool' || (actionNames?.includes(name) ?? actionIds?.includes(id) ?? !needsGrant)
  })
  const others = own.filter(({ builtIn }) => builtIn !== 'SearchTool')
  const searchesDocuments = project === null && !searchesNothing && others.length < own.length
  const { fileSearch } = parts
  if (contextFiles.kind === 'searched' && fileSearch) {
    const { search, readExcerpt: readDocument } = searchesDocuments ? parts : {}
    const both = createFileSearch(fileSearch, contextFiles.files, search)
    const readExcerpt = createFileExcerpts(fileSearch, contextFiles.files, readDocument)
    return [...others, toSearchAction(both, { ...parts, readExcerpt })].toSorted((a, b) => a.id - b.id)
  }
  return project !== null || searchesNothing ? others : own
}

export function createTurnFiles(
  { files: store, conversations }: TurnParts,
  { files: held }: TurnContext,
  { files, messages, summaryFiles }: OpenedTurn,
  caller: Principal,
): TurnFiles {
  // Newest message first. They were checked when they were sent.
  const descriptors = [files, ...messages.map((message) => message.files).toReversed(), summaryFiles].flat()
  const attachedIds = [...new Set(descriptors.flatMap(({ user_file_id: id }) => id ?? []))]
  const generatedBefore = async (): Promise<readonly StoredFile[]> => {
    const ids = await conversations.generatedFileIds?.(messages.map(({ id }) => id))
    return store.find(ids ?? [], caller)
  }
  const generated: StoredFile[] = []
  let inputs: Promise<(readonly StoredFile[])[]> | undefined
  const list = async (): Promise<readonly StoredFile[]> => {
    inputs ??= Promise.all([store.byIds(attachedIds), generatedBefore()])
    const [attached = [], earlier = []] = await inputs
    const all = [...attached, ...held, ...earlier, ...generated]
    return [...new Map(all.map((file) => [file.id, file])).values()]
  }
  const listed = async (id: string): Promise<StoredFile> => {
    const file = (await list()).find((candidate) => candidate.id === id || candidate.fileId === id)
    if (file) return file
    throw new InlayError('NOT_FOUND', {
      message: 'This conversation has no such file: take an id of the files that were attached to it or made in it.',
    })
  }
  return {
    list,
    read: async (id, signal) => store.sections(await listed(id), signal),
    open: async (id) => store.openById((await listed(id)).fileId),
    keep: async (file) => {
      const kept = await store.keep(file, caller)
      generated.push(kept)
      return kept
    },
  }
}

/** The filters of a request within its agent's start date and, unless the request names some, its document sets. */
export async function personaFilters(
  { documentSetIds, searchStartDate }: Persona,
  { filters, caller }: { readonly filters: BaseFilters | null; readonly caller: Principal },
  { documentSets }: TurnParts,
): Promise<{
  readonly filters: BaseFilters | null
  readonly searchesNothing: boolean
}> {
  const isBound = documentSetIds.length > 0 && (filters?.document_set ?? null) === null
  if (!isBound && searchStartDate === null) return { filters, searchesNothing: false }
  // A set that was deleted, or is not open to the caller, narrows the search and never widens it.
  const visible = isBound ? await documentSets(caller) : []
  const sets = visible.filter(({ id }) => documentSetIds.includes(id)).map(({ name }) => name)
  const searchesNothing = isBound && sets.length === 0
  if (searchesNothing && searchStartDate === null) return { filters, searchesNothing }
  const cutoff = filters?.time_cutoff ?? null
  const isLater = searchStartDate !== null && (cutoff === null || Date.parse(searchStartDate) > Date.parse(cutoff))
  const bounds = { ...(isBound ? { document_set: sets } : {}), time_cutoff: isLater ? searchStartDate : cutoff }
  return { filters: { ...filters, ...bounds }, searchesNothing }
}
