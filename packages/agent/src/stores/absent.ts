import { InlayError } from '@inlay/protocol'
import type { FileStore } from '../contracts/file-store.ts'
import type { MemoryStore } from '../contracts/memory-store.ts'
import type { RunStore } from '../contracts/run-store.ts'
import { defaultPersona, type PersonaLookup, type ProjectLookup } from '../contracts/persona.ts'

const noStorage = async (): Promise<never> => {
  throw new InlayError('UNSUPPORTED', { message: 'This assistant has no storage for files: hand one in.' })
}
const noFile = async (): Promise<never> => {
  throw new InlayError('NOT_FOUND', { message: 'No such file: upload it first.' })
}

export const noFiles: FileStore = {
  canKeep: false,
  find: async () => [],
  byIds: async () => [],
  sections: noFile,
  bytes: noFile,
  openById: noFile,
  keep: noStorage,
  noteUse: async () => {},
  ensureIndexed: async () => {},
}

const unsupportedKey = async (): Promise<never> => {
  throw new InlayError('UNSUPPORTED', { message: 'This assistant takes no Idempotency-Key: send the message without.' })
}

/** Used when the host stores conversations but no idempotency keys. */
export const noKeys: RunStore = { find: unsupportedKey, answer: unsupportedKey }

export const onlyDefaultPersona: PersonaLookup = {
  get: async (id) => {
    if (id === 0) return defaultPersona
    throw new InlayError('PERSONA_NOT_FOUND')
  },
}

export const noProjects: ProjectLookup = {
  get: async () => {
    throw new InlayError('NOT_FOUND', { message: 'No such project.' })
  },
}

export const noMemories: Pick<MemoryStore, 'person'> = {
  person: async () => ({ name: '', role: '', preferences: '', memories: [] }),
}
