import { describe, expect, test } from 'vitest'
import { operationExamples } from '@inlay/protocol/internal/openapi/request-examples'
import { routes } from '@inlay/server/internal/routes/index'
import * as v from 'valibot'
import { setup } from '../fakes.ts'

interface Operation {
  operationId: string
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string; description?: string }[]
  responses: Record<string, unknown>
}

interface Described {
  requestBody?: { content: Record<string, { schema: { $ref?: string }; example?: unknown }> }
}

interface Shape {
  properties?: Record<string, unknown>
}

async function documented(): Promise<{ paths: Record<string, Record<string, Operation>>; text: string }> {
  const response = await setup().ask('/openapi.json', { key: null })
  const text = await response.text()
  return { ...(JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }), text }
}

const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, '7')

describe('the OpenAPI document', () => {
  test('names every route and no other', async () => {
    const { paths } = await documented()
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const table = routes.flatMap(({ method, path, aliases = [] }) =>
      [path, ...aliases].map((item) => `${method} ${item}`),
    )
    expect(operations.sort()).toEqual(table.sort())
  })

  test('refers to schemas of the document alone', async () => {
    const { text } = await documented()
    const named = Object.keys((JSON.parse(text) as { components: { schemas: object } }).components.schemas)
    const references = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name))
    expect([...references].filter((name) => !named.includes(name!))).toEqual([])
  })

  test('says a type of every constant, and more than null of every field, for generators of typed languages', async () => {
    expect(untypedIn(JSON.parse((await documented()).text))).toEqual([])
  })

  test('tells the truth: every operation is answered, at both addresses, with the protection it names', async () => {
    const { paths } = await documented()
    const { server } = setup({ widget: async () => '' })
    for (const [path, methods] of Object.entries(paths)) {
      for (const [name, operation] of Object.entries(methods)) {
        for (const prefix of ['/api', '']) {
          const method = name.toUpperCase()
          const body = method === 'GET' || method === 'DELETE' ? undefined : '{}'
          const response = await server.fetch(
            new Request(`http://host.example${prefix}${filled(path)}`, { method, body }),
          )
          const isPublic = operation.security.length === 0
          // A public call may be one that is not offered.
          const isOffered = operation.responses['200'] !== undefined
          if (isPublic) expect(response.status, `${method} ${path}`).toBe(isOffered ? 200 : 403)
          else expect(response.status, `${method} ${path}`).toBe(401)
          await response.body?.cancel()
        }
      }
    }
  })

  test('every answered method is in it: others are 405 at each of its addresses', async () => {
    const { paths } = await documented()
    const { server } = setup()
    for (const [path, methods] of Object.entries(paths)) {
      // A document may be called `batch`: its address answers what documents do, too.
      if (/\/ingestion\/(?:batch|file|requeue)$/.test(path)) continue
      const answered = Object.keys(methods)
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (answered.includes(method.toLowerCase())) continue
        const response = await server.fetch(new Request(`http://host.example/api${filled(path)}`, { method }))
        expect(response.status, `${method} ${path}`).toBe(405)
        const allowed = response.headers.get('allow')?.split(', ') ?? []
        expect(
          allowed
            .filter((item) => item !== 'HEAD' && item !== 'OPTIONS')
            .map((item) => item.toLowerCase())
            .sort(),
        ).toEqual([...new Set(answered)].sort())
      }
    }
  })

  test('has no reference that leads nowhere, and every operation an id of its own', async () => {
    const { paths, text } = await documented()
    const document = JSON.parse(text) as { components: { schemas: Record<string, unknown> } }
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(document.components.schemas)).toContain(name)
    }
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('describes the chat request, both forms of its answer, and its failures', async () => {
    const operation = (await documented()).paths['/chat/send-chat-message']?.['post'] as unknown as {
      requestBody: { content: Record<string, { schema: { $ref: string } }> }
      responses: Record<string, { content: Record<string, unknown> }>
    }
    expect(operation.requestBody.content['application/json']?.schema.$ref).toMatch(/SendMessageRequest$/)
    expect(Object.keys(operation.responses['200']!.content).sort()).toEqual(['application/json', 'text/event-stream'])
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining(['400', '401', '403', '404', '409', '413', '422']),
    )
  })

  test('describes every parameter and field, formats every date, and shows an example of every body', async () => {
    const { paths, text } = await documented()
    const { schemas } = (JSON.parse(text) as { components: { schemas: Record<string, Shape> } }).components
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, ...(operation as Operation & Described) })),
    )
    const silent = operations.flatMap(({ path, parameters = [] }) =>
      parameters.filter(({ description }) => !description).map(({ name }) => `${path} ${name}`),
    )
    expect(silent).toEqual([])
    const isTime = /(_at|_cutoff|_date)$|^time_|^last_(success|indexed|pruned|accessed)/
    const unformatted = Object.entries(schemas).flatMap(([schema, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([name, shape]) => isTime.test(name) && /"string"/.test(JSON.stringify(shape)))
        .filter(([, shape]) => !/"format":"date/.test(JSON.stringify(shape)))
        .map(([name]) => `${schema}.${name}`),
    )
    expect(unformatted).toEqual([])
    const bodies = operations.map(({ requestBody }) => requestBody?.content['application/json'])
    const bare = bodies.filter((body) => body && body.example === undefined)
    expect(bare).toEqual([])
    expect(undescribedIn(JSON.parse(text))).toEqual([])
  })

  test.each(Object.entries(operationExamples))('shows a valid body for %s', (operation, example) => {
    const body = routes.find(({ method, path }) => `${method} ${path}` === operation)?.input?.body
    expect(v.safeParse(body!.schema!, example)).toMatchObject({ success: true })
  })

  test('names path, query and header parameters', async () => {
    const { paths } = await documented()
    const parameters = paths['/chat/chat-session/{session_id}/resume-stream']?.['get']?.parameters
    expect(parameters?.map((parameter) => `${parameter.in} ${parameter.name}`).sort()).toEqual([
      'header last-event-id',
      'path session_id',
      'query cursor',
    ])
  })
})

describe('the page', () => {
  test('shows every operation, and asks for nothing from anywhere', async () => {
    const response = await setup().ask('/docs', { key: null })
    const page = await response.text()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    for (const { path } of routes) expect(page).toContain(path.replaceAll('&', '&#38;'))
    expect(page).not.toMatch(/<script|<link|<img|src=|url\(|@import/)
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(page).toContain(`id="${target}"`)
  })

  test('allows exactly its own style sheet', async () => {
    const response = await setup().ask('/docs', { key: null })
    const style = /<style>([\s\S]*)<\/style>/.exec(await response.text())![1]!
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style))
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(`'sha256-${Buffer.from(digest).toString('base64')}'`)
    expect(policy).not.toContain('unsafe')
  })
})

/** Fields of objects, at any depth, without a description and without a name to look one up. */
function undescribedIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, held]) => {
    if (key === 'example' || key === 'examples') return []
    const fields = key === 'properties' ? Object.entries(held as Record<string, unknown>) : []
    const silent = fields.filter(([, field]) => !/"(?:description|\$ref)":/.test(JSON.stringify(field)))
    return [...silent.map(([name]) => `${path} .${name}`), ...undescribedIn(held, `${path}/${key}`)]
  })
}

/** Paths of constants without a type, and of fields whose only type is null. */
function untypedIn(held: unknown, path = ''): string[] {
  if (typeof held !== 'object' || held === null) return []
  const { properties = {}, const: constant, type } = held as Shape & { const?: unknown; type?: unknown }
  const isOnlyNull = (field: unknown): boolean => {
    const { type: own, anyOf = [] } = field as { type?: unknown; anyOf?: { type?: unknown }[] }
    return own === 'null' || (anyOf.length > 0 && anyOf.every((option) => option.type === 'null'))
  }
  return [
    ...(constant !== undefined && type === undefined ? [path] : []),
    ...Object.entries(properties).flatMap(([name, field]) => (isOnlyNull(field) ? [`${path} .${name}`] : [])),
    ...Object.entries(held).flatMap(([key, value]) => (key === 'example' ? [] : untypedIn(value, `${path}/${key}`))),
  ]
}
