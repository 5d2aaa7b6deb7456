import type { Principal } from '@inlay/protocol'
import { must, mustEqual, mustReject, toTests, type ConformanceTest } from '../contract.ts'
import type { IncomingFile, FileStore, MemoryStore, PersonaLookup, ProjectLookup } from '@inlay/agent'

const ana: Principal = { id: 'ana', scopes: ['chat'] }
const ben: Principal = { id: 'ben', scopes: ['chat'] }

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

const notes = (text: string): IncomingFile => ({ name: 'notes.txt', mediaType: 'text/plain', bytes: bytesOf(text) })

/** Tests of a `FileStore` that stores files. */
export function fileStoreConformance(make: () => FileStore | Promise<FileStore>): ConformanceTest[] {
  return toTests<FileStore>(
    {
      async 'a kept file is found by both of its ids, by its owner alone'(store) {
        must(store.canKeep, 'the store keeps files')
        const file = await store.keep(notes('Two herons.'), ana)
        mustEqual([file.name, file.ownerId, file.sizeBytes], ['notes.txt', 'ana', 11], 'the file')
        for (const id of [file.id, file.fileId])
          mustEqual(idsOf(await store.find([id, 'unknown'], ana)), [file.id], 'the file by an id')
        mustEqual(await store.find([file.id, file.fileId], ben), [], 'a file of another caller')
        mustEqual(idsOf(await store.byIds(['unknown', file.id])), [file.id], 'whoever owns it')
      },
      async 'a kept file can be read, fetched and opened'(store) {
        const file = await store.keep(notes('Two herons.'), ana)
        const sections = await store.sections(file)
        mustEqual(sections.map(({ text }) => text).join(''), 'Two herons.', 'its text')
        mustEqual(new TextDecoder().decode(await store.bytes(file)), 'Two herons.', 'its bytes')
        const opened = await store.openById(file.fileId)
        mustEqual(await new Response(opened.bytes).text(), 'Two herons.', 'its bytes as a stream')
        await mustReject(() => store.openById('unknown'), 'NOT_FOUND', 'an unknown file')
      },
      async 'noting use and indexing take any files, also none'(store) {
        const file = await store.keep(notes('Two herons.'), ana)
        await store.noteUse([])
        await store.noteUse([file.id])
        await store.ensureIndexed([], 0)
      },
    },
    async (check) => check(await make()),
  )
}

const idsOf = (files: readonly { readonly id: string }[]): string[] => files.map(({ id }) => id)

/** Tests of a `PersonaLookup`. */
export function personaLookupConformance(make: () => PersonaLookup | Promise<PersonaLookup>): ConformanceTest[] {
  return toTests<PersonaLookup>(
    {
      async 'there is a default persona for everybody, and no unknown one'(personas) {
        mustEqual((await personas.get(0, ben)).id, 0, 'the default persona')
        await mustReject(() => personas.get(4_711, ana), 'PERSONA_NOT_FOUND', 'an unknown persona')
      },
    },
    async (check) => check(await make()),
  )
}

/**
 * Tests of a `ProjectLookup`.
 * @param make gives a lookup and the id of a project of the caller `ana`
 */
export function projectLookupConformance(
  make: () => Promise<{ readonly projects: ProjectLookup; readonly id: number }>,
): ConformanceTest[] {
  return toTests<{ readonly projects: ProjectLookup; readonly id: number }>(
    {
      async 'a project is found by its owner alone'({ projects, id }) {
        mustEqual((await projects.get(id, ana)).id, id, 'the project')
        await mustReject(() => projects.get(id, ben), 'NOT_FOUND', 'a project of another caller')
        await mustReject(() => projects.get(id + 4_711, ana), 'NOT_FOUND', 'an unknown project')
      },
    },
    async (check) => check(await make()),
  )
}

/** Tests of a `MemoryStore` that stores memories. */
export function memoryStoreConformance(make: () => MemoryStore | Promise<MemoryStore>): ConformanceTest[] {
  return toTests<MemoryStore>(
    {
      async 'a memory is kept for its caller alone'(store) {
        must(store.canKeep && (await store.mayKeep(ana)), 'the store keeps memories')
        const { operation, index, memory } = await store.keep('  Likes\nherons. ', null, ana)
        mustEqual([operation, index, memory.content], ['add', null, 'Likes herons.'], 'the memory')
        mustEqual(contentsOf(await store.person(ana)), ['Likes herons.'], 'what is known')
        mustEqual(contentsOf(await store.person(ben)), [], 'what is known about another caller')
      },
      async 'a memory replaces the one it names, or the one that says the same'(store) {
        const { memory } = await store.keep('Likes herons.', null, ana)
        const same = await store.keep('likes herons', null, ana)
        mustEqual([same.operation, same.index, same.memory.id], ['update', 0, memory.id], 'the same words')
        const named = await store.keep('Likes cranes.', memory.id, ana)
        mustEqual([named.operation, named.memory.content], ['update', 'Likes cranes.'], 'a named one')
        await mustReject(() => store.keep('No.', memory.id, ben), 'NOT_FOUND', 'a memory of another caller')
      },
      async 'a blank memory and one that is too long are refused'(store) {
        await mustReject(() => store.keep('  ', null, ana), 'INVALID_INPUT', 'a blank memory')
        await mustReject(() => store.keep('x'.repeat(501), null, ana), 'INVALID_INPUT', 'a memory of 501 characters')
      },
    },
    async (check) => check(await make()),
  )
}

const contentsOf = ({ memories }: { readonly memories: readonly { readonly content: string }[] }): string[] =>
  memories.map(({ content }) => content)
