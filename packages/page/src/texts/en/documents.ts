import { formatNumber, plural } from '../locale.ts'

/** Words of `documents`. */
export const documents = {
  set: 'Document set',
  allSets: 'All document sets',
  onlyTag: (tag: string) => `Only ${tag}`,
  anyTag: (tag: string) => `No longer only ${tag}`,
  accepted: 'Taken in',
  rate: (perSecond: number, seconds: number) =>
    `${formatNumber(perSecond)} a second, about ${plural(seconds, { one: '# second', other: '# seconds' })} left`,
}
