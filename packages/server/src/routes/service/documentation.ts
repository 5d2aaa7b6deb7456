import { describeRoutes } from '../../openapi/document.ts'
import { pageStyle, toPage } from '../../openapi/page.ts'
import { jsonReply, reply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'
import * as v from 'valibot'

const route = routesOf('Service', { scope: 'public', owner: 'none' })

export const documentationRoutes: readonly Route[] = [
  route('GET /openapi.json', 'openApi', 'Get the OpenAPI 3.1 document', {
    answer: { description: 'The document.', schema: v.record(v.string(), v.unknown()) },
    handle: async ({ routes, settings, url }) => jsonReply(await describeRoutes(routes, settings.version, baseOf(url))),
  }),
  route('GET /docs', 'documentation', 'Get the API documentation as a page', {
    answer: { description: 'A page.', mediaType: 'text/html' },
    async handle({ routes, settings, url }) {
      return reply(toPage(await describeRoutes(routes, settings.version, baseOf(url))), {
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy':
            `default-src 'none'; style-src 'sha256-${await styleHash()}'; ` +
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        },
      })
    },
  }),
]

/** Base path of the API, derived from the request URL, so that it is correct wherever a host mounts it. */
function baseOf(url: URL): string {
  return url.pathname.replace(/\/[^/]*\/?$/, '') || '/'
}

async function styleHash(): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pageStyle))
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
}
