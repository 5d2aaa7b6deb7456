import {
  defaultPersona,
  estimateTokens,
  memoryChars,
  type FileStore,
  type Memory,
  type MemoryStore,
  type Persona,
  type PersonaLookup,
  type Project,
  type ProjectLookup,
  type Services,
  type StoredFile,
} from '@inlay/agent'
import { InlayError, type Principal } from '@inlay/protocol'

/**
 * Stores files in memory and reads each as UTF-8; a file that is not text has no content. Stored files are never
 * deleted.
 */
export function inMemoryFiles({ now, newId }: Pick<Services, 'now' | 'newId'>): FileStore {
  const held = new Map<string, { readonly file: StoredFile; readonly bytes: Uint8Array<ArrayBuffer> }>()
  const findOne = (id: string) => held.get(id) ?? [...held.values()].find(({ file }) => file.fileId === id)
  const open = (id: string) => {
    const entry = findOne(id)
    if (entry) return entry
    throw new InlayError('NOT_FOUND', { message: 'No such file: upload it first.' })
  }
  const textOf = ({ id }: StoredFile): string => new TextDecoder().decode(open(id).bytes)
  return {
    canKeep: true,
    find: async (ids, caller) =>
      [...new Set(ids.map((id) => findOne(id)?.file))].filter(
        (file): file is StoredFile => file !== undefined && file.ownerId === caller.id,
      ),
    byIds: async (ids) => ids.flatMap((id) => held.get(id)?.file ?? []),
    sections: async (file) => (file.kind === 'image' || textOf(file) === '' ? [] : [{ text: textOf(file) }]),
    bytes: async ({ id }) => open(id).bytes,
    openById: async (id) => {
      const { file, bytes } = open(id)
      return { file, bytes: new Blob([bytes]).stream() }
    },
    keep: async ({ name, mediaType, bytes: parts }, caller) => {
      const pieces: Uint8Array<ArrayBuffer>[] = []
      for await (const part of parts) pieces.push(new Uint8Array(part))
      const bytes = await new Blob(pieces).bytes()
      const file: StoredFile = {
        id: newId(),
        fileId: newId(),
        ownerId: caller.id,
        name,
        mediaType,
        kind: mediaType.startsWith('image/') ? 'image' : 'plain_text',
        sizeBytes: bytes.length,
        status: 'COMPLETED',
        reason: null,
        tokens: mediaType.startsWith('image/') ? null : estimateTokens(new TextDecoder().decode(bytes)),
        createdAt: now(),
        usedAt: null,
      }
      held.set(file.id, { file, bytes })
      return file
    },
    noteUse: async (ids) => {
      for (const id of ids) {
        const known = held.get(id)
        if (known) held.set(id, { ...known, file: { ...known.file, usedAt: now() } })
      }
    },
    ensureIndexed: async () => {},
  }
}

/** Personas for all callers, in addition to the default one. */
export function inMemoryPersonas(personas: readonly Persona[]): PersonaLookup {
  const byId = new Map([defaultPersona, ...personas].map((persona) => [persona.id, persona]))
  return {
    get: async (id) => {
      const persona = byId.get(id)
      if (persona) return persona
      throw new InlayError('PERSONA_NOT_FOUND')
    },
  }
}

/** Projects, each with the id of its owner. */
export function inMemoryProjects(projects: readonly (Project & { readonly ownerId: string })[]): ProjectLookup {
  const byId = new Map(projects.map((project) => [project.id, project]))
  return {
    get: async (id, caller) => {
      const project = byId.get(id)
      if (project?.ownerId === caller.id) return project
      throw new InlayError('NOT_FOUND', { message: 'No such project.' })
    },
  }
}

/** Stores memories of callers in memory. Nothing else is known about people. */
export function inMemoryMemories({ now }: Pick<Services, 'now'>): MemoryStore {
  const byOwner = new Map<string, Memory[]>()
  let lastId = 0
  const ownOf = ({ id }: Principal): Memory[] => {
    const own = byOwner.get(id) ?? []
    byOwner.set(id, own)
    return own
  }
  return {
    canKeep: true,
    person: async (caller) => ({ name: '', role: '', preferences: '', memories: [...ownOf(caller)] }),
    mayKeep: async () => true,
    keep: async (given, replaces, caller) => {
      const content = given.replace(/\s+/g, ' ').trim()
      if (content === '' || content.length > memoryChars) {
        throw new InlayError('INVALID_INPUT', { message: `A memory takes 1 to ${memoryChars} characters.` })
      }
      const own = ownOf(caller)
      const index = own.findIndex(({ id, content: other }) =>
        replaces === null ? normalizedText(other) === normalizedText(content) : id === replaces,
      )
      const old = own[index]
      if (old) {
        const memory = { ...old, content, updatedAt: now() }
        own[index] = memory
        return { memory, operation: 'update', index }
      }
      if (replaces !== null) throw new InlayError('NOT_FOUND', { message: 'There is no such memory.' })
      const memory = { id: ++lastId, content, createdAt: now(), updatedAt: now() }
      own.unshift(memory)
      return { memory, operation: 'add', index: null }
    },
  }
}

/** Words of a text, without case and punctuation. */
function normalizedText(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ')
}
