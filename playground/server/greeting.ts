/** What a person needs to know once the server listens. */
export interface GreetingFacts {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string
  readonly basePath: string
  readonly key: string
  /** Goes behind the page's address; "" when the page must ask for the key. */
  readonly fragment: string
  /** Says which model answers, named as what it is. */
  readonly model: string
  readonly dataFolder: string
  /** Whether other machines can reach it. */
  readonly isOpen: boolean
}

/** The text that is printed once the server listens: addresses, key, model, and three lines to paste into a shell. */
export function greeting(facts: GreetingFacts): string {
  const rows = [
    ['Page', `${facts.origin}/${facts.fragment}`],
    ['API', `${facts.origin}${facts.basePath}`],
    ['Key', facts.key],
    ['Model', facts.model],
    ['Data', facts.dataFolder],
    ...(facts.isOpen ? [['Open', 'other machines can reach this server; whoever has the key can use it']] : []),
  ]
  return [
    '',
    '  Inlay is running.',
    '',
    ...rows.map(([name = '', value = '']) => `  ${name.padEnd(7)}${value}`),
    '',
    '  Lines to paste into another shell:',
    '',
    ...curlLines(facts).flatMap(([what, line]) => [`  # ${what}`, `  ${line}`, '']),
    '  Ctrl+C stops it and keeps everything.',
    '',
    '',
  ].join('\n')
}

/** The three lines with what each does. They are one line each, so that they survive being copied from any terminal. */
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
    ['ask, and see the answer come', post('/chat/send-chat-message', { message: question }, '-N ')],
    ['ask, and get the whole answer', post('/chat/send-chat-message', { message: question, stream: false })],
    ['add a document', post('/service-api/ingestion', { document })],
  ]
}
