import { InlayError } from '@inlay/protocol'
import { reply } from '../../http/replies.ts'
import { routesOf, type Route } from '../../http/route.ts'

const route = routesOf('Service', { scope: 'public', owner: 'none' })

export const widgetRoutes: readonly Route[] = [
  route('GET /inlay-chat.js', 'widget', 'Get the script of <inlay-chat>', {
    answer: { description: 'The script.', mediaType: 'text/javascript' },
    errors: ['NOT_FOUND'],
    async handle({ parts }) {
      const script = await parts.widget?.()
      if (script === undefined) throw new InlayError('NOT_FOUND', { message: 'The widget is not part of this build.' })
      return reply(script, {
        headers: {
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': 'public, max-age=3600',
          // Pages of any origin may load it, including cross-origin isolated ones.
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
          'x-content-type-options': 'nosniff',
        },
      })
    },
  }),
]
