import type { Knowledge } from '@inlay/knowledge'
import { isInlayError, type IngestionRequest } from '@inlay/protocol'
import { request } from '../knowledge/requests.ts'

/** Content of a document: its version number, or null when it does not exist. */
export type State = number | null

/** Every part of every document holds this word, so that one search finds all there is. */
const everywhere = 'kestrel'

const filler = 'The kettle of the lighthouse keeper sings before the storm and after it. '.repeat(12)

/** Parts of a version; the numbers differ so that a mixture of two versions shows. */
const partsOf = (version: number): number => 1 + (version % 3)

/** A version as a request: each part names the document, the version and itself. */
export function versionRequest(id: string, version: number): IngestionRequest {
  const sections = Array.from({ length: partsOf(version) }, (_, part) => ({
    type: 'text' as const,
    text: `${everywhere} ${id} version${version}x part${part}x ${version % 4 === 0 ? filler : ''}`,
    link: null,
    image_file_id: null,
    heading: null,
  }))
  return request({ id, semantic_identifier: id, sections, metadata: { version: String(version) } })
}

/** Posts a version; answers whether the document was there before. */
export async function post(knowledge: Knowledge, id: string, version: number): Promise<boolean> {
  return (await knowledge.accept(versionRequest(id, version))).alreadyExisted
}

/** Deletes a document; answers whether it was there. */
export async function remove(knowledge: Knowledge, id: string): Promise<boolean> {
  try {
    await knowledge.remove(id)
    return true
  } catch (error) {
    if (isInlayError(error) && error.code === 'DOCUMENT_NOT_FOUND') return false
    throw error
  }
}

/** Search results of each document: `version.part` of everything found, sorted. */
export type Shown = Readonly<Record<string, readonly string[]>>

/** Looks at everything there is. */
export async function look(knowledge: Knowledge): Promise<Shown> {
  const results = await knowledge.search({ text: everywhere, limit: 200 })
  const parts = results.flatMap(({ document, content }) =>
    [...content.matchAll(/version(\d+)x part(\d+)x/g)].map(([, version, part]) => ({
      id: document.document_id,
      name: `${version}.${part}`,
    })),
  )
  const byId = Map.groupBy(parts, ({ id }) => id)
  return Object.fromEntries([...byId].map(([id, ofId]) => [id, ofId.map(({ name }) => name).toSorted()]))
}

/** Search results of a document that is complete and stored once. */
export function wholeVersion(version: number): string[] {
  return Array.from({ length: partsOf(version) }, (_, part) => `${version}.${part}`)
}

/** The one whole version that is shown, null for none; undefined when it is a mixture, a part, or more than one. */
export function versionOf(shown: readonly string[] | undefined): State | undefined {
  if (!shown || shown.length === 0) return null
  const version = Number(shown[0]!.split('.')[0])
  const whole = wholeVersion(version)
  return shown.length === whole.length && shown.every((name, at) => name === whole[at]) ? version : undefined
}
