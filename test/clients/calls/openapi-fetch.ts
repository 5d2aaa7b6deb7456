import createClient from 'openapi-fetch'
import type { components, paths } from './schema'

type Line = components['schemas']['StreamLine']

/** The main calls, with the types of openapi-typescript. */
export async function callAll(baseUrl: string, key: string): Promise<void> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } })

  const document = {
    id: 'types/opening-hours',
    semantic_identifier: 'Opening hours',
    sections: [{ text: 'The laboratory is open from 7:00 to 19:00.' }],
    metadata: { area: 'safety' },
  }
  const taken = await client.POST('/service-api/ingestion', {
    body: { document },
    headers: { prefer: 'wait=60' },
    params: { header: { prefer: 'wait=60' } },
  })
  must(taken.data?.document_id === document.id, 'ingest', taken.error)
  const path = { document_id: document.id }
  const state = await client.GET('/service-api/ingestion/{document_id}', { params: { path } })
  must(state.data?.state === 'indexed', 'state', state.data ?? state.error)

  const search = await client.POST('/search', { body: { query: 'laboratory opening hours' } })
  must(search.data?.results[0]?.title === 'Opening hours', 'search', search.data ?? search.error)

  const whole = await client.POST('/chat/send-chat-message', { body: { message: 'When is it open?', stream: false } })
  must(whole.data !== undefined && 'answer' in whole.data, 'whole answer', whole.error)
  const stream = await client.POST('/chat/send-chat-message', {
    body: { message: 'When is the laboratory open?' },
    parseAs: 'text',
  })
  const lines = String(stream.data)
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Line)
  must(
    lines.some((line) => 'obj' in line && line.obj.type === 'stop'),
    'stream',
    lines,
  )

  const sessions = await client.GET('/chat/get-user-chat-sessions')
  must((sessions.data?.sessions.length ?? 0) >= 2, 'sessions', sessions.data)

  const form = new FormData()
  form.set('files', new File(['Minutes of the board.'], 'minutes.txt', { type: 'text/plain' }))
  const upload = await client.POST('/user/projects/file/upload', {
    body: { files: [] },
    bodySerializer: () => form,
  })
  const fileId = upload.data?.user_files[0]?.file_id ?? ''
  must(fileId !== '', 'upload', upload.data ?? upload.error)
  const download = await client.GET('/chat/file/{file_id}', {
    params: { path: { file_id: fileId } },
    parseAs: 'text',
  })
  must(String(download.data) === 'Minutes of the board.', 'download', download.data)

  const refused = await client.POST('/search', { body: { query: '' } })
  must(refused.response.status === 422 && refused.error !== undefined, 'error', refused.error)
}

function must(holds: boolean, step: string, seen: unknown): void {
  if (!holds) throw new Error(`openapi-typescript, ${step}: ${JSON.stringify(seen)}`)
}
