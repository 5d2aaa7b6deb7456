/**
 * A process that appends, replaces and maintains until it is killed. Says each step once it is done: `+` and the id for
 * rows that are in, `-` and the id for rows that are out. Each document has as many rows as its number says.
 */
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { row } from './sample-rows.ts'

const [folder, name, most = 'Infinity'] = process.argv.slice(2)
const index = lancedbIndex({ folder: folder!, keepVersionsMs: 200 })
await index.open()
let isDone = false

const maintaining = (async () => {
  while (!isDone) {
    await index.maintain({ idle: true })
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})()

for (let n = 0; n < Number(most); n++) {
  const id = `${name}-${n}`
  const rows = Array.from({ length: (n % 3) + 1 }, (_, position) => row(id, `heron part ${position}`, { position }))
  await index.append(rows)
  process.stdout.write(`+${id}\n`)
  if (n % 4 !== 3) continue
  await index.remove([`generation of ${name}-${n - 1}`])
  process.stdout.write(`-${name}-${n - 1}\n`)
}
isDone = true
await maintaining
await index.close()
