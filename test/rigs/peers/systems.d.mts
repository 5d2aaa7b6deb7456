import type { RetrievalSet } from '../../bench/retrieval-set.ts'

type Documents = RetrievalSet['documents']
type Search = (query: string, limit: number) => readonly string[] | Promise<readonly string[]>
/** Vectors of texts, as arrays: some of the libraries take no typed ones. */
type Embed = (texts: readonly string[], use: 'document' | 'query') => Promise<number[][]>

export const wordPeers: Readonly<Record<string, (documents: Documents) => Search | Promise<Search>>>
export const vectorPeers: Readonly<Record<string, (documents: Documents, embed: Embed) => Promise<Search>>>
