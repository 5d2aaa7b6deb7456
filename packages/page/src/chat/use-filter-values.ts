import { typingMs, useLoaded } from '../controls/use-loaded.ts'
import type { FilterValues, Service } from '../service/service.ts'

/** What documents can be filtered by, with tags that hold the words. Undefined where it cannot be read. */
export function useFilterValues(service: Pick<Service, 'filterValues'>, tagWords: string): FilterValues | undefined {
  const inputs = [service, tagWords]
  return useLoaded((signal) => service.filterValues(tagWords, signal), inputs, {
    delayMs: tagWords === '' ? 0 : typingMs,
  }).value
}
