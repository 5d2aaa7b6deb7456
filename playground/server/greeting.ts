/** Information to print when the server listens. */
export interface GreetingFacts {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string
  readonly basePath: string
  readonly key: string
  /** Appended to the page's URL; "" if the page has to ask for the key. */
  readonly fragment: string
  /** Describes the model that answers. */
  readonly model: string
  readonly dataFolder: string
  /** Whether other machines can reach the server. */
  readonly isOpen: boolean
}

/** The text to print when the server listens: URLs, key, model, and three commands for a shell. */
export function greeting(facts: GreetingFacts): string {
  const rows = [
    ['Page', `${facts.origin}/${facts.fragment}`],
    ['API', `${facts.origin}${facts.basePath}`],
    ['Key', facts.key],
    ['Model', facts.model],
    ['Data', facts.dataFolder],
    ...(facts.isOpen ? [['Open', 'other machines can reach this server; anybody with the key can use it']] : []),
  ]
  return [
    '',
    '  Inlay is running.',
    '',
    ...rows.map(([name = '', value = '']) => `  ${name.padEnd(7)}${value}`),
    '',
    '  Commands for another shell:',
    '',
    ...curlLines(facts).flatMap(([what, line]) => [`  # ${what}`, `  ${line}`, '']),
    '  Ctrl+C stops the server; all data is kept.',
    '',
    '',
  ].join('\n')
}

/** The three commands with descriptions, each on one line, so that they can be copied from any terminal. */
function curlLines({ origin, basePath, key }: GreetingFacts): [string, string][] {
  const post = (path: string, body: unknown, extra = ''): string =>
    `curl ${extra}-X POST ${origin}${basePath}${path} -H 'Authorization: Bearer ${key}' ` +
    `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const question = 'How are citations checked?'
  const document = {
    id: 'first-document',
    semantic_identifier: 'Opening hours',
    sections: [{ text: 'The reading room is open from 9 to 18 on weekdays and until noon on Saturdays.' }],
    metadata: {},
  }
  return [
    ['ask, with a streamed answer', post('/chat/send-chat-message', { message: question }, '-N ')],
    ['ask, with a complete answer', post('/chat/send-chat-message', { message: question, stream: false })],
    ['add a document', post('/service-api/ingestion', { document })],
  ]
}
