import {
  errorBodySchema,
  errorTable,
  streamLineSchema,
  type ErrorCode,
  type ResponseSpec,
  type RouteSpec,
  type Scope,
} from '@inlay/protocol'
import type { OpenApiDocument } from '@inlay/protocol/openapi'
import type { GenericSchema } from 'valibot'
import type { Route } from '../http/route.ts'

/** The OpenAPI document of a route table; each further address of a route is an operation of its own. */
export async function describeRoutes(routes: readonly Route[], version: string): Promise<OpenApiDocument> {
  // Loaded when somebody asks: no request of the API itself needs it.
  const { toOpenApi } = await import('@inlay/protocol/openapi')
  return toOpenApi(routes.flatMap(toSpecs), {
    title: 'Inlay',
    version,
    description: 'An AI assistant over your own documents: documents in, cited answers out.',
    // Relative to where this document lies, so it is right wherever a host has mounted us.
    serverUrl: '.',
  })
}

function toSpecs(route: Route): RouteSpec[] {
  const { input = {} } = route
  const scopes = scopesOf(route)
  const spec: RouteSpec = {
    method: route.method,
    path: route.path,
    operationId: route.operationId,
    summary: route.summary,
    description: [route.description, scopes.length > 1 ? `Any of the scopes ${scopes.join(', ')} will do.` : undefined]
      .filter((sentence) => sentence !== undefined)
      .join(' '),
    tags: [route.topic],
    scope: scopes[0] ?? 'public',
    owner: route.owner,
    ...(input.body === undefined ? {} : bodyOf(input.body)),
    query: input.query,
    params: input.path,
    headers: input.headers,
    responses: responsesOf(route),
    deprecated: route.answer === undefined,
  }
  const others = (route.aliases ?? []).map((path, index) => ({
    ...spec,
    path,
    operationId: `${route.operationId}At${index + 2}`,
    description: `The same as \`${route.path}\`.`,
  }))
  return [spec, ...others]
}

function scopesOf(route: Route): readonly Scope[] {
  if (route.scope === 'public') return []
  return typeof route.scope === 'string' ? [route.scope] : route.scope
}

function bodyOf(body: NonNullable<NonNullable<Route['input']>['body']>): { body?: GenericSchema; bodyType?: string } {
  return body.kind === 'json' ? { body: body.schema } : { body: body.schema, bodyType: body.mediaType }
}

function responsesOf(route: Route): Record<number, ResponseSpec> {
  const responses: Record<number, ResponseSpec> = {}
  if (route.answer !== undefined) responses[route.answer.status ?? 200] = answerOf(route.answer)
  if (route.answer?.accepted !== undefined) responses[202] = { description: route.answer.accepted }
  for (const code of route.errors ?? []) {
    const { status, message } = errorTable[code]
    const before = responses[status]?.description
    responses[status] = { description: describeCode(before, code, message), schema: errorBodySchema }
  }
  return responses
}

function describeCode(before: string | undefined, code: ErrorCode, message: string): string {
  return `${before === undefined ? '' : `${before} `}\`${code}\`: ${message}`
}

function answerOf(answer: NonNullable<Route['answer']>): ResponseSpec {
  const headers = Object.entries(answer.headers ?? {}).map(([name, meaning]) => ` Header \`${name}\`: ${meaning}`)
  const description = answer.description + headers.join('')
  if (answer.lines !== undefined) return { description, schema: answer.lines, contentType: 'application/x-ndjson' }
  const packets = answer.packets === true ? { 'text/event-stream': streamLineSchema } : undefined
  if (answer.schema === undefined) return { description, alsoAs: packets }
  return { description, schema: answer.schema, alsoAs: packets }
}
