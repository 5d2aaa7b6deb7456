import { createTenants, type Tenants } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'
import { personaBody } from '../../server/persona-body.ts'

const apiKey = 'inlay_tenant_test_key'
/** Stands in everything that alpha has. */
const secret = 'quetzalsecret'

type Body = object | FormData

async function ask(tenants: Tenants, tenant: string, method: string, path: string, body?: Body): Promise<Response> {
  const init = body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }
  const headers = { authorization: `Bearer ${apiKey}` }
  return tenants.fetch(new Request(`http://${tenant}.example/api${path}`, { method, headers, ...init }))
}

/** Has alpha own one of everything; returns the ids by the names that paths and bodies call them. */
async function fillAlpha(tenants: Tenants): Promise<Readonly<Record<string, string | number>>> {
  const own = async (path: string, body: Body): Promise<Record<string, unknown>> => {
    const response = await ask(tenants, 'alpha', 'POST', path, body)
    expect([path, response.status]).toEqual([path, 200])
    return (await response.json()) as Record<string, unknown>
  }
  const document = {
    id: `${secret}-1`,
    semantic_identifier: secret,
    metadata: { team: secret },
    sections: [{ text: secret }],
  }
  await own('/service-api/ingestion', { document })
  const answer = await own('/chat/send-chat-message', { message: `What of ${secret}?`, stream: false })
  const form = new FormData()
  form.append('files', new File([`A ${secret} in a file.`], `${secret}.txt`, { type: 'text/plain' }))
  const { user_files: files } = await own('/user/projects/file/upload', form)
  const project = await own(`/user/projects/create?name=${secret}`, {})
  const persona = await own('/persona', { ...personaBody, name: secret, system_prompt: secret })
  const memory = await own('/user/memories', { content: secret })
  const key = await own('/admin/api-key', { name: secret, role: 'admin' })
  const prompt = await own('/input_prompt', { prompt: 'leave', content: secret, is_public: false })
  const set = { name: secret, description: secret, cc_pair_ids: [1], is_public: true }
  await own('/manage/admin/document-set', set)
  const hold = await own('/admin/holds', { person: secret, reason: secret })
  return {
    session_id: String(answer['chat_session_id']),
    file_id: (files as { id: string }[])[0]!.id,
    document_id: `${secret}-1`,
    project_id: Number(project['id']),
    persona_id: Number(persona['id']),
    memory_id: Number(memory['id']),
    prompt_id: Number(prompt['id']),
    api_key_id: Number(key['api_key_id']),
    hold_id: Number(hold['id']),
    // The first of each has this number in every tenant.
    cc_pair_id: 1,
    document_set_id: 1,
    tool_id: 1_001,
    label_id: 1,
    connector_id: 1,
    credential_id: 1,
    notification_id: 1,
    token_id: 1,
    provider_id: 1,
    server_id: 1,
  }
}

/** State that alpha sees of itself; a change from elsewhere would show. */
async function viewOf(tenants: Tenants, ids: Readonly<Record<string, string | number>>): Promise<readonly string[]> {
  const paths = [
    `/chat/get-chat-session/${ids['session_id']}`,
    `/service-api/ingestion/${ids['document_id']}`,
    `/user/projects/file/${ids['file_id']}`,
    `/user/projects/${ids['project_id']}/details`,
    `/persona/${ids['persona_id']}`,
    '/user/memories',
    '/manage/document-set',
    '/admin/limits',
    '/admin/holds',
  ]
  return Promise.all(
    paths.map(async (path) => {
      const response = await ask(tenants, 'alpha', 'GET', path)
      expect([path, response.status]).toEqual([path, 200])
      return response.text()
    }),
  )
}

test('no address of one tenant reads or changes what another has, whatever ids it names', async () => {
  const folder = temporaryFolder()
  const errors: unknown[] = []
  const tenants = createTenants({
    tenantOf: (request) => /^(\w+)\.example$/.exec(new URL(request.url).hostname)?.[1],
    folder: folder.path,
    options: () => ({
      apiKey,
      ingestionWaitMs: 60_000,
      telemetry: true,
      onError: (error) => errors.push(error),
    }),
  })
  onTestFinished(async () => {
    await tenants.close()
    folder.remove()
  })
  const ids = await fillAlpha(tenants)
  const before = await viewOf(tenants, ids)
  const { routes } = await tenants.open('beta')
  // Each route takes of it what it knows; other fields are ignored.
  const body = {
    ...Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, id])),
    chat_session_id: ids['session_id'],
    chat_session_ids: [ids['session_id']],
    message_id: 2,
    file_ids: [ids['file_id']],
    message: 'Say what you know.',
    query: 'What is there?',
    name: 'Other',
    stream: false,
  }
  const leaks: string[] = []
  for (const { method, path, answer, operationId } of routes) {
    if (answer === undefined) continue
    const named = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      expect(ids, `${operationId}: say what alpha has of ${name}`).toHaveProperty(name)
      return encodeURIComponent(String(ids[name]))
    })
    const response = await ask(tenants, 'beta', method, named, method === 'GET' ? undefined : body)
    const text = await response.text()
    expect(response.status, operationId).not.toBe(500)
    // An unknown name from the request is repeated in the error.
    const known = text.replaceAll(String(ids['document_id']), '')
    if (known.includes(secret)) leaks.push(`${operationId}: ${response.status} ${known}`)
  }
  expect(leaks).toEqual([])
  expect(await viewOf(tenants, ids)).toEqual(before)
  expect(errors).toEqual([])
})
