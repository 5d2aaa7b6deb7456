import { defaultPersona, type FileStore, type MemoryStore, type PersonaLookup, type ProjectLookup } from '@inlay/agent'
import {
  fileStoreConformance,
  memoryStoreConformance,
  personaLookupConformance,
  projectLookupConformance,
} from '@inlay/conformance'
import { InlayError } from '@inlay/protocol'
import { testMutants } from '../../mutants.ts'
import { inMemoryFiles, inMemoryMemories, inMemoryPersonas, inMemoryProjects } from '../in-memory-library.ts'

const services = { now: () => 1_000, newId: () => crypto.randomUUID() }
type Change<Part> = (base: Part) => Partial<Part>
const noChange = (): object => ({})

testMutants<Change<FileStore>>(
  'file store',
  (change) =>
    fileStoreConformance(() => {
      const base = inMemoryFiles(services)
      return { ...base, ...change(base) }
    }),
  {
    sound: noChange,
    mutants: {
      'says that it keeps nothing': () => ({ canKeep: false }),
      'finds files of every owner': (base) => ({ find: (ids) => base.byIds(ids) }),
      'finds nothing': () => ({ find: async () => [] }),
      'finds by one of the ids': (base) => ({
        find: async (ids, caller) => (await base.find(ids, caller)).filter(({ id }) => ids.includes(id)),
      }),
      'fails on an unknown id': (base) => ({
        find: async (ids, caller) => {
          if (ids.includes('unknown')) throw new InlayError('NOT_FOUND')
          return base.find(ids, caller)
        },
      }),
      'lists nothing by id alone': () => ({ byIds: async () => [] }),
      'names the wrong size': (base) => ({
        keep: async (file, caller) => ({ ...(await base.keep(file, caller)), sizeBytes: 0 }),
      }),
      'loses the name': (base) => ({ keep: (file, caller) => base.keep({ ...file, name: 'file' }, caller) }),
      'keeps files for nobody': (base) => ({ keep: (file) => base.keep(file, { id: 'system', scopes: ['chat'] }) }),
      'reads nothing': () => ({ sections: async () => [] }),
      'cuts bytes': (base) => ({ bytes: async (file) => (await base.bytes(file)).slice(0, 3) }),
      'lends the beginning': (base) => ({
        openById: async (id) => {
          const lent = await base.openById(id)
          const bytes = new Uint8Array(await new Response(lent.bytes).arrayBuffer()).slice(0, 3)
          return { ...lent, bytes: new Blob([bytes]).stream() }
        },
      }),
      'throws a bare string for an unknown file': (base) => ({
        openById: (id) => base.openById(id).catch(() => Promise.reject('ENOENT')),
      }),
      'fails to note the use of none': (base) => ({
        noteUse: async (ids) => {
          if (ids.length === 0) throw new Error('syntax error near ")"')
          return base.noteUse(ids)
        },
      }),
    },
  },
)

testMutants<Change<MemoryStore>>(
  'memory store',
  (change) =>
    memoryStoreConformance(() => {
      const base = inMemoryMemories(services)
      return { ...base, ...change(base) }
    }),
  {
    sound: noChange,
    mutants: {
      'says that it keeps nothing': () => ({ canKeep: false }),
      'lets nobody keep': () => ({ mayKeep: async () => false }),
      'knows one person': (base) => ({ person: () => base.person({ id: 'ana', scopes: ['chat'] }) }),
      'knows nothing': (base) => ({ person: async (caller) => ({ ...(await base.person(caller)), memories: [] }) }),
      'keeps blanks and lines': (base) => ({
        keep: async (content, id, caller) => {
          const kept = await base.keep(content, id, caller)
          return { ...kept, memory: { ...kept.memory, content } }
        },
      }),
      'adds the same again': (base) => ({
        keep: async (content, id, caller) => ({ ...(await base.keep(`${content} `, id, caller)), operation: 'add' }),
      }),
      'tells a number too high': (base) => ({
        keep: async (content, id, caller) => {
          const kept = await base.keep(content, id, caller)
          return { ...kept, index: kept.index === null ? null : kept.index + 1 }
        },
      }),
      'never replaces': (base) => ({ keep: (content, _id, caller) => base.keep(content, null, caller) }),
      'takes ids of others': (base) => ({
        keep: (content, id, caller) =>
          base
            .keep(content, id, caller)
            .catch((error: unknown) => (id === null ? Promise.reject(error) : base.keep(content, null, caller))),
      }),
      'keeps a blank memory': (base) => ({
        keep: (content, id, caller) => base.keep(content.trim() || '-', id, caller),
      }),
      'cuts what is too long': (base) => ({
        keep: (content, id, caller) => base.keep(content.slice(0, 500), id, caller),
      }),
      'throws a bare string': (base) => ({
        keep: (content, id, caller) => base.keep(content, id, caller).catch(() => Promise.reject('invalid')),
      }),
    },
  },
)

const unlessKnown =
  <Part extends { get(...given: never[]): Promise<unknown> }>(answer: (error: unknown) => unknown) =>
  (base: Part): Partial<Part> =>
    // The same call, whatever its arguments are.
    ({ get: (...given: never[]) => base.get(...given).catch(answer) }) as unknown as Partial<Part>

testMutants<Change<PersonaLookup>>(
  'persona lookup',
  (change) =>
    personaLookupConformance(() => {
      const base = inMemoryPersonas([{ ...defaultPersona, id: 1 }])
      return { ...base, ...change(base) }
    }),
  {
    sound: noChange,
    mutants: {
      'has no default': (base) => ({
        get: async (id, caller) =>
          id === 0 ? Promise.reject(new InlayError('PERSONA_NOT_FOUND')) : base.get(id, caller),
      }),
      'gives its first persona for the default': (base) => ({ get: (id, caller) => base.get(id || 1, caller) }),
      'gives the default for an unknown one': (base) => ({
        get: (id, caller) => base.get(id, caller).catch(() => base.get(0, caller)),
      }),
      'gives nothing for an unknown one': unlessKnown(() => undefined),
      'gives null for an unknown one': unlessKnown(() => null),
      'throws a bare string': unlessKnown(() => Promise.reject('unknown')),
      'throws an error of its own': unlessKnown(() => Promise.reject(new Error('no rows'))),
      'throws another code': unlessKnown(() => Promise.reject(new InlayError('NOT_FOUND'))),
      'blames itself': unlessKnown(() => Promise.reject(new InlayError('INTERNAL_ERROR'))),
      'knows one caller alone': (base) => ({
        get: async (id, caller) =>
          caller.id === 'ana' ? base.get(id, caller) : Promise.reject(new InlayError('PERSONA_NOT_FOUND')),
      }),
      'gives ids as text': (base) => ({
        get: async (id, caller) => ({ ...(await base.get(id, caller)), id: String(id) }) as never,
      }),
    },
  },
)

testMutants<Change<ProjectLookup>>(
  'project lookup',
  (change) =>
    projectLookupConformance(async () => {
      const base = inMemoryProjects([{ id: 1, ownerId: 'ana', instructions: null, fileIds: [] }])
      return { projects: { ...base, ...change(base) }, id: 1 }
    }),
  {
    sound: noChange,
    mutants: {
      'shows projects to everybody': (base) => ({ get: (id, caller) => base.get(id, { ...caller, id: 'ana' }) }),
      'has no project': () => ({ get: async () => Promise.reject(new InlayError('NOT_FOUND')) }),
      'gives nothing for an unknown one': unlessKnown(() => undefined),
      'gives null for an unknown one': unlessKnown(() => null),
      'throws a bare string': unlessKnown(() => Promise.reject('unknown')),
      'throws an error of its own': unlessKnown(() => Promise.reject(new Error('no rows'))),
      'tells that a project of another is there': (base) => ({
        get: (id, caller) =>
          base
            .get(id, caller)
            .catch((error: unknown) => Promise.reject(id === 1 ? new InlayError('PERMISSION_DENIED') : error)),
      }),
      'throws the code of personas': unlessKnown(() => Promise.reject(new InlayError('PERSONA_NOT_FOUND'))),
      'counts from zero': (base) => ({ get: (id, caller) => base.get(id + 1, caller) }),
      'gives ids as text': (base) => ({
        get: async (id, caller) => ({ ...(await base.get(id, caller)), id: String(id) }) as never,
      }),
      'gives the first project for an unknown one': (base) => ({
        get: (id, caller) => base.get(id > 1 ? 1 : id, caller),
      }),
    },
  },
)
