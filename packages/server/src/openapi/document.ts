import {
  errorBodySchema,
  rateLimitedBodySchema,
  errorTable,
  streamLineSchema,
  type ResponseSpec,
  type RouteSpec,
} from '@inlay/protocol'
import type { OpenApiDocument } from '@inlay/protocol/openapi'
import { scopesOf, type Route } from '../http/route.ts'

/** Each additional path of a route is a separate operation. @param serverUrl base path of the API, such as `/api` */
export async function describeRoutes(
  routes: readonly Route[],
  version: string,
  serverUrl: string,
): Promise<OpenApiDocument> {
  // Imported lazily: only documentation requests need it.
  const { toOpenApi } = await import('@inlay/protocol/openapi')
  return toOpenApi(routes.flatMap(toSpecs), {
    title: 'Inlay',
    version,
    description: 'An AI assistant over your own documents: documents in, cited answers out.',
    serverUrl,
  })
}

function toSpecs(route: Route): RouteSpec[] {
  const { input = {} } = route
  const scopes = scopesOf(route) ?? []
  const spec: RouteSpec = {
    method: route.method,
    path: route.path,
    operationId: route.operationId,
    summary: route.summary,
    description: route.description,
    tags: [route.topic],
    scopes,
    owner: route.owner,
    body: input.body?.schema,
    bodyType: input.body?.kind === 'stream' ? input.body.mediaType : undefined,
    query: input.query,
    params: input.path,
    headers: input.headers,
    responses: responsesOf(route),
    deprecated: route.answer === undefined,
  }
  const others = (route.aliases ?? []).map((path, index) => ({
    ...spec,
    path,
    examplePath: route.path,
    operationId: `${route.operationId}At${index + 2}`,
    description: `The same as \`${route.path}\`.`,
    deprecated: true,
  }))
  return [spec, ...others]
}

function responsesOf(route: Route): Record<number, ResponseSpec> {
  const { answer } = route
  const responses: Record<number, ResponseSpec> = {}
  if (answer !== undefined) responses[answer.status ?? 200] = answerOf(answer)
  if (answer?.accepted !== undefined) responses[202] = { description: answer.accepted }
  if (answer?.ended !== undefined) responses[204] = { description: answer.ended }
  if (answer?.unchanged !== undefined) responses[304] = { description: answer.unchanged, headers: answer.headers }
  for (const code of route.errors ?? []) {
    const { status, message } = errorTable[code]
    const described = [responses[status]?.description, `\`${code}\`: ${message}`]
    responses[status] = {
      description: described.filter((each) => each !== undefined).join(' '),
      schema: status === 429 ? rateLimitedBodySchema : errorBodySchema,
    }
  }
  return responses
}

function answerOf(answer: NonNullable<Route['answer']>): ResponseSpec {
  const { description, headers, lines, schema, mediaType: file } = answer
  const events = answer.packets === true ? streamLineSchema : answer.events
  return {
    description,
    headers,
    lines,
    schema,
    file,
    ...(events !== undefined && { alsoAs: { 'text/event-stream': events } }),
  }
}
