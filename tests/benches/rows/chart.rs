//! One picture of lines over a logarithmic axis, as SVG.

use std::fmt::Display;
use std::path::Path;

use plotters::prelude::*;

/// Points under one name.
pub(crate) struct Line {
    name: &'static str,
    points: Vec<(f64, f64)>,
}

impl Line {
    pub(crate) fn new(name: &'static str, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Self { name, points: points.into() }
    }
}

/// Lines that share their axes.
pub(crate) struct Chart {
    /// The name of the file without `.svg`.
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) lines: Vec<Line>,
}

const COLORS: [RGBColor; 3] = [RGBColor(0x1f, 0x6f, 0xb4), RGBColor(0xd9, 0x6b, 0x00), RGBColor(0x3a, 0x8f, 0x3a)];

impl Chart {
    /// Writes the picture into a folder.
    pub(crate) fn draw(&self, folder: &Path) -> Result<(), String> {
        let path = folder.join(self.file).with_extension("svg");
        let failed = |error: &dyn Display| format!("{}: {error}", path.display());
        let area = SVGBackend::new(&path, (760, 420)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| failed(&error))?;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let (least, most) = points().fold((f64::MAX, 0.0_f64), |(least, most), (x, _)| (least.min(*x), most.max(*x)));
        let highest = points().fold(0.0_f64, |highest, (_, y)| highest.max(*y));
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .caption(self.title, ("sans-serif", 20))
            .x_label_area_size(44)
            .y_label_area_size(72)
            // Room above the lines for their names.
            .build_cartesian_2d((least..most).log_scale(), 0.0..highest * 1.3)
            .map_err(|error| failed(&error))?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 13))
            .draw()
            .map_err(|error| failed(&error))?;
        for (line, color) in self.lines.iter().zip(COLORS) {
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), color.stroke_width(2)).point_size(3))
                .map_err(|error| failed(&error))?
                .label(line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE)
            .border_style(TRANSPARENT)
            .label_font(("sans-serif", 13))
            .draw()
            .map_err(|error| failed(&error))?;
        area.present().map_err(|error| failed(&error))
    }
}

/// A number as an axis has it.
fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{} M", value / 1e6),
        value if value >= 1e4 => format!("{} k", value / 1e3),
        value => format!("{}", value.round()),
    }
}
