import { render } from 'preact'
import { Gate } from './gate.tsx'

const place = document.getElementById('app')
if (place !== null) render(<Gate />, place)
