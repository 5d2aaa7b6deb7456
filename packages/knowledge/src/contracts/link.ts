import type { SearchRequest } from './search.ts'

export interface LinkRequest extends Pick<SearchRequest, 'filters' | 'caller' | 'signal'> {
  readonly link: string
}
