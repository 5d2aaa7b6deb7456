import type { Table } from '@lancedb/lancedb'
import type { WriterPresence } from './writer-presence.ts'

/**
 * Tells by the numbers of versions whether another handle wrote, where no file can say that one is open: every commit
 * makes the next version, so a version that this handle did not make is somebody else's.
 */
export async function openVersionPresence(table: Table): Promise<WriterPresence> {
  let base = await table.version()
  /** All versions after the base up to here are own ones. */
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
        // Perhaps that of a commit that is still under way here.
        if (underWay > 0) return undefined
        base = covered = version
        own.clear()
      }
      return String(base)
    },
    leave: async () => {},
  }
}
