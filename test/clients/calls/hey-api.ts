import { client } from './hey/client.gen'
import * as api from './hey'

/** The main calls, with the client of hey-api. */
export async function callAll(baseUrl: string, key: string): Promise<void> {
  client.setConfig({ baseUrl, auth: () => key })

  const document = {
    id: 'hey/opening-hours',
    semantic_identifier: 'Opening hours of the library',
    sections: [{ text: 'The library is open from 9:00 to 17:00.' }],
    metadata: { area: 'reading' },
  }
  const taken = await api.ingestDocument({ body: { document }, headers: { prefer: 'wait=60' } })
  must(taken.data?.document_id === document.id, 'ingest', taken.error)
  const state = await api.getDocumentState({ path: { document_id: document.id } })
  must(state.data?.state === 'indexed', 'state', state.data ?? state.error)

  const search = await api.search({ body: { query: 'library opening hours' } })
  must(search.data?.results.some(({ title }) => title === document.semantic_identifier) === true, 'search', search.data)

  const whole = await api.sendChatMessage({ body: { message: 'When is the library open?', stream: false } })
  must(typeof whole.data?.answer === 'string', 'whole answer', whole.error)
  const types: string[] = []
  const { stream } = await api.resumeChatStream({ path: { session_id: whole.data?.chat_session_id ?? '' } })
  for await (const line of stream) if (line && 'obj' in line) types.push(line.obj.type)
  must(types.at(-1) === 'stop', 'stream', types)

  const sessions = await api.listChatSessions()
  must((sessions.data?.sessions.length ?? 0) > 0, 'sessions', sessions.data)

  const file = new File(['Minutes of the board.'], 'minutes.txt', { type: 'text/plain' })
  const upload = await api.uploadFiles({ body: { files: [file] } })
  const fileId = upload.data?.user_files[0]?.file_id ?? ''
  must(fileId !== '', 'upload', upload.data ?? upload.error)
  const download = await api.fetchFile({ path: { file_id: fileId }, parseAs: 'blob' })
  must((await download.data?.text()) === 'Minutes of the board.', 'download', download.error)
}

function must(holds: boolean, step: string, seen: unknown): void {
  if (!holds) throw new Error(`hey-api, ${step}: ${JSON.stringify(seen)}`)
}
