import type { RetrievalSet } from '../retrieval-set.ts'

export const peers: Readonly<Record<string, (documents: RetrievalSet['documents']) => Search | Promise<Search>>>
type Search = (query: string, limit: number) => readonly string[] | Promise<readonly string[]>
