import { inflateSync } from 'node:zlib'
import type { Packet, StreamLine } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { orderFaults } from '../../agent/packet-order.ts'
import type { RecordedRequest, Reply } from '../../stand-in/model-server.ts'
import { calls, openActionHarness, says } from './action-harness.ts'

// A process takes seconds to start on a machine that has much else to do.
const patience = { timeout: 300_000 }

/** A bar for each row, in the format's own bytes: no library is needed. */
const drawing = `
import csv, struct, zlib
rows = [float(row['sales']) for row in csv.DictReader(open('sales by month.csv'))]
width, height = 20 * len(rows), 100
top = max(rows)
lines = b''
for y in range(height):
    lines += b'\\0'
    for value in rows:
        lines += (b'\\x20\\x60\\xc0' if height - y <= value / top * height else b'\\xff\\xff\\xff') * 20
def part(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
with open('sales.png', 'wb') as picture:
    picture.write(b'\\x89PNG\\r\\n\\x1a\\n')
    picture.write(part(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)))
    picture.write(part(b'IDAT', zlib.compress(lines)) + part(b'IEND', b''))
print(f'{len(rows)} months, the best sold {top:g}')
`

/** Packets of a run of one action. */
function received(lines: readonly StreamLine[]) {
  expect(orderFaults(lines)).toEqual([])
  const packets = lines.filter((line): line is Packet => 'obj' in line)
  const deltas = packets.flatMap(({ obj }) => (obj.type === 'python_tool_delta' ? [obj] : []))
  return {
    packets,
    stdout: deltas.map(({ stdout }) => stdout).join(''),
    stderr: deltas.map(({ stderr }) => stderr).join(''),
    fileIds: deltas.flatMap(({ file_ids: ids }) => ids),
  }
}

/** The result of a call as the model reads it, in the question after it. */
function resultsIn({ body }: RecordedRequest): Record<string, unknown>[] {
  const messages = body['messages'] as { role: string; content: string }[]
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content))
}

test('a plot of an uploaded table comes back as a picture that clients can fetch', patience, async () => {
  const harness = await openActionHarness()
  const file = await harness.upload('sales by month.csv', 'month,sales\nMay,25\nJune,50\nJuly,100\n')
  const lines = await harness.ask('Plot it.', [calls(['run_python', { code: drawing }]), says('Here it is.')], {
    file_descriptors: [{ id: file }],
  })
  const { stdout, stderr, fileIds, packets } = received(lines)
  expect({ stdout, stderr, files: fileIds.length }).toEqual({
    stdout: '3 months, the best sold 100\n',
    stderr: '',
    files: 1,
  })
  const written = packets.map(({ obj }) => (obj.type === 'tool_call_argument_delta' ? obj.argument_deltas['code'] : ''))
  expect(written.join('')).toBe(drawing)
  const [result] = resultsIn(harness.requests().at(-1)!)
  expect(result).toMatchObject({
    type: 'python_execution',
    exit_code: 0,
    generated_files: [{ filename: 'sales.png', file_link: `/api/chat/file/${fileIds[0]}` }],
  })
  const response = await harness.fetch(`/chat/file/${fileIds[0]}`)
  expect(response.headers.get('content-type')).toBe('image/png')
  const bars = barsOf(Buffer.from(await response.arrayBuffer()))
  expect(bars).toEqual([25, 50, 100])

  const session = lines.find((line) => 'chat_session_id' in line)?.chat_session_id
  const code = 'import os\nprint(sorted(os.listdir()))'
  const later = await harness.ask('And what is there now?', [calls(['run_python', { code }]), says('Both.')], {
    chat_session_id: session,
  })
  expect(received(later)).toMatchObject({ stdout: "['sales by month.csv', 'sales.png']\n", fileIds: [] })
  expect(harness.errors).toEqual([])
})

/** Heights of the bars in a picture as `drawing` makes it. */
function barsOf(png: Buffer): number[] {
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  const width = png.readUInt32BE(16)
  const data = png.subarray(41, 41 + png.readUInt32BE(33))
  const pixels = inflateSync(data)
  const row = 1 + 3 * width
  return Array.from(
    { length: width / 20 },
    (_, bar) =>
      Array.from({ length: 100 }, (_row, y) => pixels[y * row + 1 + 60 * bar]).filter((red) => red === 0x20).length,
  )
}

/** Programs that nobody wants, and what the model has to read of each. */
const unwanted: readonly (readonly [code: string, result: Record<string, unknown>])[] = [
  [
    'print("begun")\nwhile True: pass',
    { stdout: 'begun\n', timed_out: true, exit_code: null, error: expect.stringContaining('10 s') },
  ],
  ['x = [bytearray(2**30) for _ in range(10)]', { exit_code: 1, stderr: expect.stringContaining('MemoryError') }],
  [
    'import urllib.request\nurllib.request.urlopen("http://127.0.0.1/")',
    { exit_code: 1, stderr: expect.stringContaining('programs have no network here') },
  ],
  ['print(open("/etc/passwd").read())', { exit_code: 1, stderr: expect.stringContaining('FileNotFoundError') }],
  ['import js\njs.process.exit()', { exit_code: 1, stderr: expect.stringContaining('js is not available') }],
  [
    'from pyodide.code import run_js\nrun_js("process.env")',
    { exit_code: 1, stderr: expect.stringContaining('pyodide is not available') },
  ],
  ['import ctypes\nctypes.CDLL(None).emscripten_run_script(b"1")', { error: expect.stringContaining('broke down') }],
]

test('programs that hang, hoard or would leave fail clearly while other chats go on', patience, async () => {
  const harness = await openActionHarness({ python: { timeoutMs: 10_000 } })
  // Kept here: the harness forgets what was asked before the newest message.
  let results: readonly Record<string, unknown>[] = []
  const script = (request: RecordedRequest): Reply => {
    if (!JSON.stringify(request.body).includes('Try everything')) return says('All is well.')
    results = resultsIn(request)
    return results.length > 0
      ? says('None of it worked.')
      : calls(...unwanted.map(([code]) => ['run_python', { code }] as const))
  }
  let isOver = false
  const running = harness.ask('Try everything.', script).finally(() => (isOver = true))
  let others = 0
  while (!isOver) {
    const lines = await harness.ask('Are you there?', script)
    expect(JSON.stringify(lines)).toContain('All is well.')
    others += isOver ? 0 : 1
    // People do not ask without a breath.
    await Promise.race([running, new Promise((breath) => setTimeout(breath, 200))])
  }
  const { packets } = received(await running)
  expect(packets.filter(({ obj }) => obj.type === 'python_tool_start')).toHaveLength(unwanted.length)
  expect(others).toBeGreaterThan(3)
  for (const [at, [, expected]] of unwanted.entries()) expect(results[at]).toMatchObject(expected)
  expect(harness.errors).toEqual([])
})

test('a program ends when its chat is stopped, and makes room for the next', patience, async () => {
  const harness = await openActionHarness({ python: { maxProcesses: 1 } })
  const code = 'print("begun", flush=True)\nwhile True: pass'
  harness.script([calls(['run_python', { code }])])
  const response = await harness.fetch('/chat/send-chat-message', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
    body: JSON.stringify({ message: 'Go.' }),
  })
  let text = ''
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    const hadBegun = text.includes('"stdout":"begun')
    text += piece
    if (hadBegun || !text.includes('"stdout":"begun')) continue
    const session = /"chat_session_id":"([^"]+)"/.exec(text)![1]
    expect((await harness.fetch(`/chat/stop-chat-session/${session}`, { method: 'POST' })).status).toBe(200)
  }
  expect(text).toContain('"stop_reason":"user_cancelled"')
  // The only process there may be would still be taken by the endless program.
  const next = await harness.ask('And now?', [calls(['run_python', { code: '6 * 7' }]), says('42')])
  expect(received(next).stdout).toBe('42\n')
})

test('without programs there is no such action', async () => {
  const harness = await openActionHarness({ python: null })
  onTestFinished(() => expect(harness.errors).toEqual([]))
  const tools = (await (await harness.fetch('/tool')).json()) as { in_code_tool_id: string | null }[]
  expect(tools.map((tool) => tool.in_code_tool_id)).not.toContain('PythonTool')
})
