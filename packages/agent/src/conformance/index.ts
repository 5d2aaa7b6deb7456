export type { Law } from './law.ts'
export {
  webSearchLaws,
  type MakeWebSearch,
  type SearchServiceMood,
  type WebSearchUnderTest,
} from './web-search-laws.ts'
