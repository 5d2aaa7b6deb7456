/** A moment in milliseconds since 1970 UTC as the wire has it, ISO 8601 with `Z`; null stays null. */
export function toDate(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
