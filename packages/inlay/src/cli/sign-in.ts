import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { withInlay } from './with-inlay.ts'

export const signIn: Command = {
  ...commandTable['sign-in'],
  isLocal: 'the browser comes back to this machine; run it on the machine of the server',
  details: [
    'Prints an address: open it in a browser on this machine, and allow what the server asks.',
    'The sign-in is kept in the database and renewed by itself. Needs the package @modelcontextprotocol/client.',
  ],
  words: [1, 1],
  needs: 'the name of an MCP server',
  options: {},
  run: (context) =>
    withInlay(context, async (inlay) => {
      const { output, signal, words } = context
      const [name = ''] = words
      const back = Promise.withResolvers<URLSearchParams>()
      const server = createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
        if (pathname !== '/callback') return response.writeHead(404).end()
        back.resolve(searchParams)
        return response.writeHead(200, { 'content-type': 'text/plain' }).end('You can close this page.')
      })
      const stop = (): void => back.reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      try {
        await once(server.listen(0, '127.0.0.1'), 'listening')
        const { port } = server.address() as AddressInfo
        const url = await inlay.mcp.signIn(name, `http://127.0.0.1:${port}/callback`)
        output.result({ url }, url)
        await inlay.mcp.finishSignIn(name, await back.promise)
        output.note(`Signed in to ${name}.`)
        return 0
      } finally {
        signal.removeEventListener('abort', stop)
        server.close()
        server.closeAllConnections()
      }
    }),
}
