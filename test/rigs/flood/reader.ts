/**
 * One caller who reads a list several times at once, and again when it has been answered, until told to stop. A process
 * of its own, so that whoever measures does not wait for what this one does. Says when the first answer came.
 *
 *   node reader.ts <address of the API> <key> <method and path> <reads at a time>
 */
const [base = '', key = '', call = '', lanes = ''] = process.argv.slice(2)
const [method = '', path = ''] = call.split(' ')
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const statuses = new Map<number, number>()
let isOver = false

async function read(): Promise<void> {
  const response = await fetch(`${base}${path}`, { method, headers, ...(method === 'POST' && { body: '{}' }) })
  await response.arrayBuffer()
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
}

process.on('message', () => (isOver = true))
process.on('disconnect', () => process.exit())
await read()
process.send?.('begun')
await Promise.all(
  Array.from({ length: Number(lanes) }, async () => {
    while (!isOver) await read()
  }),
)
process.send?.({ statuses: [...statuses].toSorted() })

export {}
