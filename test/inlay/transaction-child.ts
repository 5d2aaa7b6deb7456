/** A host that is killed between its commit and the next moment of its assistant. */
import { postgres } from '@inlay/drivers/postgres'
import { createInlay } from 'inlay'
import pg from 'pg'

const connectionString = process.argv[2]!
const inlay = createInlay({ model: 'extractive', database: postgres({ connectionString }) })
const client = new pg.Client({ connectionString })
await client.connect()
await client.query('begin')
const document = { id: 'heron', sections: [{ text: 'The heron waits.' }] }
await inlay.knowledge.accept({ document }, { transaction: client })
await client.query('commit')
process.kill(process.pid, 'SIGKILL')
