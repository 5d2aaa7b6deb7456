/** An Inlay that sends events, as a process that kills itself at some point, is killed, or ends with its input. */
import { postgres } from '@inlay/drivers/postgres'
import { createInlay } from 'inlay'

/** Instructions for the process, as JSON in its first argument. */
export interface ChildTask {
  readonly dataFolder: string
  /** Of a Postgres in place of SQLite. */
  readonly connectionString?: string | undefined
  readonly url: string
  readonly secrets: readonly string[]
  /** `User-Agent` of what it sends. */
  readonly name: string
  /** Documents it indexes. */
  readonly count: number
  /** When it kills itself: after an event is stored, or is about to be sent. */
  readonly kill?: 'stored' | 'claimed' | undefined
}

// Written by the test that starts this program.
const { dataFolder, connectionString, url, secrets, name, count, kill } = JSON.parse(process.argv[2]!) as ChildTask
const reach = (point: ChildTask['kill']): void => {
  if (point === kill) process.kill(process.pid, 'SIGKILL')
}
const inlay = createInlay({
  dataFolder,
  model: 'extractive',
  ...(connectionString !== undefined && { database: postgres({ connectionString }) }),
  webhooks: [{ url, secrets, events: ['document.indexed'] }],
  egress: {
    allowHosts: ['receiver.test'],
    userAgent: name,
    resolve: async () => {
      reach('claimed')
      return ['127.0.0.1']
    },
  },
  hooks: { afterDocument: () => reach('stored') },
  worker: { lingerMs: 1 },
})
await inlay.start()
process.stdin.resume().once('end', () => void inlay.close())
process.stdout.write('started\n')
const documents = Array.from({ length: count }, (_, at) => ({
  id: `document${at}`,
  sections: [{ text: `Text ${at}.` }],
}))
await Promise.all(documents.map((document) => inlay.knowledge.accept({ document })))
