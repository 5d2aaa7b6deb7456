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

/** Stands where no files were handed in. */
export const noFiles: FileStore = {
  canKeep: false,
  find: async () => [],
  byIds: async () => [],
  sections: noFile,
  bytes: noFile,
  lend: noFile,
  keep: noStorage,
  noteUse: async () => {},
  ensureIndexed: async () => {},
}

const unsupportedKey = async (): Promise<never> => {
  throw new InlayError('UNSUPPORTED', { message: 'This assistant takes no Idempotency-Key: send the message without.' })
}

/** Stands where the host keeps conversations and no keys. */
export const noKeys: RunStore = { find: unsupportedKey, complete: unsupportedKey, answer: unsupportedKey }

/** Stands where no personas were handed in. */
export const onlyDefaultPersona: PersonaLookup = {
  get: async (id) => {
    if (id === 0) return defaultPersona
    throw new InlayError('PERSONA_NOT_FOUND')
  },
}

/** Stands where no projects were handed in. */
export const noProjects: ProjectLookup = {
  get: async () => {
    throw new InlayError('NOT_FOUND', { message: 'No such project.' })
  },
}

/** Stands where nothing is remembered. */
export const noMemories: Pick<MemoryStore, 'person'> = {
  person: async () => ({ name: '', role: '', preferences: '', memories: [] }),
}
