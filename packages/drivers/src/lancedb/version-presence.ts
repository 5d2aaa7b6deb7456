import type { Table } from '@lancedb/lancedb'
import type { WriterPresence } from './writer-presence.ts'

/** Every commit creates the next version: one that this handle did not create belongs to another writer. */
export async function openVersionPresence(table: Table): Promise<WriterPresence> {
  let base = await table.version()
  /** All versions from the base up to here were created by this handle. */
  let covered = base
  const own = new Set<number>()
  let underWay = 0
  return {
    async commit(work) {
      underWay++
      try {
        const result = await work()
        if (result.version > covered) own.add(result.version)
        while (own.delete(covered + 1)) covered++
        return result
      } finally {
        underWay--
      }
    },
    async soleWriter() {
      const version = await table.version()
      if (version > covered) {
        // It may belong to a running commit of this handle.
        if (underWay > 0) return undefined
        base = covered = version
        own.clear()
      }
      return String(base)
    },
    leave: async () => {},
  }
}
