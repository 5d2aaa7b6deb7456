import { expect, test } from 'vitest'
import { drawRecording, type Screen } from '../../../packages/inlay/scripts/recording-picture.ts'

const plain = (text: string): Screen['lines'][number] => (text === '' ? [] : [{ style: '', text }])

test('a line is drawn once for as long as it stands, the last ones until the recording begins again', () => {
  const screens: readonly Screen[] = [
    { atMs: 0, lines: [plain('$ inlay ingest'), plain('1 of 2 <docs>')] },
    { atMs: 500, lines: [plain('$ inlay ingest'), plain('2 of 2 <docs>')] },
    { atMs: 900, lines: [plain('$ inlay ingest'), plain('')] },
  ]
  const drawn = [
    ...drawRecording(screens, { columns: 40, title: 'ingest' }).matchAll(
      /<text[^>]*>([^<]*)<set [^>]*begin="r.begin\+([\d.]+)s" end="(?:r.begin\+)?([^"]+)"/g,
    ),
  ]
  expect(drawn.map(([, text, from, to]) => [text, from, to])).toEqual([
    ['1 of 2 &lt;docs&gt;', '0.00', '0.50s'],
    ['2 of 2 &lt;docs&gt;', '0.50', '0.90s'],
    ['$ inlay ingest', '0.00', 'r.end'],
  ])
})

test('styles are kept', () => {
  const screens: readonly Screen[] = [
    {
      atMs: 0,
      lines: [
        [
          { style: 'red', text: 'FAILED' },
          { style: '', text: ' Disk' },
        ],
      ],
    },
  ]
  expect(drawRecording(screens, { columns: 40, title: 'doctor' })).toContain('<tspan class="red">FAILED</tspan> Disk')
})
